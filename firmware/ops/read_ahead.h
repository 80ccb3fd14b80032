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
  uint32_t next = 0;        // L1 address of the page that is read into next
  uint32_t end = 0;         // of the circular buffer
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
  // Bit i of `used`: there is stream i.
  ReadAhead(uint32_t used, uint32_t address0, uint32_t address1, uint32_t address2) {
    const uint32_t addresses[] = {address0, address1, address2};
    for (uint32_t i = 0; i != kMaxInputs; ++i) {
      if ((used >> i & 1) != 0) streams_[i] = Stream::Of(i, addresses[i]);
    }
  }

  // The next group has this many tiles of a stream: at most the pages of its buffer, which are a multiple of them.
  void SetTiles(uint32_t stream, uint32_t tiles) { streams_[stream].reading = tiles; }

  // Begins a group: waits until there is space for it.
  [[gnu::noinline]] void Begin() {
    group_ ^= 1;
    bool has_space = true;
    for (Stream& stream : streams_) {
      const uint32_t pages = stream.travelling + stream.reading;
      if (pages != 0) has_space &= stream.pages.HasSpace(pages);
    }
    if (has_space) return;
    HandOver();
    for (Stream& stream : streams_) {
      if (stream.reading != 0) stream.pages.Reserve(stream.reading);
    }
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
