// Reads of a reader kernel, in groups of pages of some circular buffers: the reads of a group start before those of the
// last one have arrived, where the buffers have space for both.
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

class ReadAhead {
 public:
  // Circular buffers 0 to `buffers` - 1.
  explicit ReadAhead(uint32_t buffers) : count_(buffers) {}

  uint32_t page_bytes(uint32_t buffer) const { return buffers_[buffer].page_bytes(); }

  // Starts a group of pages[i] pages of buffer i, and waits until there is space for it. The pages are consecutive.
  void Begin(const uint32_t* pages) {
    bool has_space = true;
    for (uint32_t i = 0; i != count_; ++i) {
      has_space &= buffers_[i].HasSpace(travelling_[i] + pages[i]);
    }
    if (!has_space) {
      Finish();
      for (uint32_t i = 0; i != count_; ++i) buffers_[i].Reserve(pages[i]);
    }
    for (uint32_t i = 0; i != count_; ++i) next_[i] = buffers_[i].PageAfter(travelling_[i]);
    group_ ^= 1;
  }
  // Reads a page into the next page of a buffer.
  [[gnu::noinline]] void Read(uint32_t buffer, kernel::NocAddress from) {
    const uint32_t bytes = buffers_[buffer].page_bytes();
    kernel::Read(from, next_[buffer], bytes, static_cast<kernel::ReadGroup>(group_));
    next_[buffer] += bytes;
  }
  // Ends the group of Begin(): hands over the one before it, which has arrived by then.
  void End(const uint32_t* pages) {
    HandOver(group_ ^ 1);
    for (uint32_t i = 0; i != count_; ++i) travelling_[i] = pages[i];
    is_travelling_ = true;
  }
  // Hands over the group of the last End().
  [[gnu::noinline]] void Finish() {
    HandOver(group_);
  }

 private:
  [[gnu::noinline]] static kernel::CircularBuffer BufferOf(uint32_t index) {
    return kernel::CircularBuffer(index);
  }

  [[gnu::noinline]] void HandOver(uint32_t group) {
    if (!is_travelling_) return;
    kernel::ReadBarrier(static_cast<kernel::ReadGroup>(group));
    for (uint32_t i = 0; i != count_; ++i) {
      if (travelling_[i] != 0) buffers_[i].Push(travelling_[i]);
      travelling_[i] = 0;
    }
    is_travelling_ = false;
  }

  uint32_t count_;
  uint32_t group_ = 0;
  bool is_travelling_ = false;
  // All are made: the output's index is above theirs, and a launch describes all up to the highest.
  kernel::CircularBuffer buffers_[kMaxInputs] = {BufferOf(0), BufferOf(1), BufferOf(2)};
  uint32_t travelling_[kMaxInputs] = {};  // pages of the group before Begin()'s
  uint32_t next_[kMaxInputs] = {};        // L1 addresses
};

}  // namespace ttfd::ops
