// Reads of a reader kernel: tiles of up to three tensors into circular buffers 0, 1 and 2, in groups of some tiles of
// each. The reads of a group start before those of the last one have arrived, where the buffers have space for both.
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// A tensor and the circular buffer that its tiles go to.
struct Stream {
  kernel::CircularBuffer pages;
  kernel::InterleavedBuffer tiles;
  uint32_t next;            // L1 address of the page that is read into next
  uint32_t end;             // of the circular buffer
  uint32_t reading = 0;     // pages of the group that has begun
  uint32_t travelling = 0;  // pages of the group before it, until they are handed over

  [[gnu::noinline]] static Stream Of(uint32_t index, uint32_t address) {
    const kernel::CircularBuffer pages(index);
    const kernel::InterleavedBuffer tiles(address, pages.page_bytes());
    return {pages, tiles, pages.address(), pages.address() + pages.pages() * pages.page_bytes()};
  }
};

class ReadAhead {
 public:
  // All streams are made, those that are not used too: the output's buffer has an index above theirs, and a launch
  // describes all up to the highest.
  ReadAhead(uint32_t address0, uint32_t address1, uint32_t address2)
      : streams_{Stream::Of(0, address0), Stream::Of(1, address1), Stream::Of(2, address2)} {}

  // The next group has this many tiles of a stream: at most the pages of its buffer, which are a multiple of them.
  void SetTiles(uint32_t stream, uint32_t tiles) { streams_[stream].reading = tiles; }

  // Begins a group: waits until there is space for it.
  [[gnu::noinline]] void Begin() {
    group_ ^= 1;
    bool has_space = true;
    for (Stream& stream : streams_) {
      has_space &= stream.pages.HasSpace(stream.travelling + stream.reading);
    }
    if (has_space) return;
    HandOver();
    for (Stream& stream : streams_) stream.pages.Reserve(stream.reading);
  }
  // Reads a tile of the group.
  [[gnu::noinline]] void Read(uint32_t stream, uint32_t tile) {
    Stream& from = streams_[stream];
    const uint32_t bytes = from.pages.page_bytes();
    kernel::Read(from.tiles.Page(tile), from.next, bytes, static_cast<kernel::ReadGroup>(group_));
    from.next += bytes;
    if (from.next == from.end) from.next = from.pages.address();
  }
  // All reads of the group have begun: hands over the group before it.
  void End() {
    HandOver();
    is_travelling_ = true;
    for (Stream& stream : streams_) stream.travelling = stream.reading;
  }
  // Hands over the last group.
  void Finish() {
    group_ ^= 1;
    HandOver();
  }

 private:
  // Hands over the group before that of Begin(), if it has not been.
  [[gnu::noinline]] void HandOver() {
    if (!is_travelling_) return;
    is_travelling_ = false;
    kernel::ReadBarrier(static_cast<kernel::ReadGroup>(group_ ^ 1));
    for (Stream& stream : streams_) {
      if (stream.travelling != 0) stream.pages.Push(stream.travelling);
      stream.travelling = 0;
    }
  }

  Stream streams_[kMaxInputs];
  uint32_t group_ = 0;
  bool is_travelling_ = false;
};

}  // namespace ttfd::ops
