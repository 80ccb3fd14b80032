// Numbers of a tensor of 32-bit integers, read 64 bytes at a time.
#pragma once

#include <stdint.h>

#include "firmware/ops/move/layout.h"

namespace ttfd::ops {

class IndexTensor {
 public:
  // `memory`: L1 address of kMoveIndexBytes, a multiple of that.
  IndexTensor(const MoveTensor& tensor, uint32_t memory)
      : pages_(tensor, sizeof(uint32_t)), memory_(memory) {}

  [[gnu::noinline]] uint32_t At(uint32_t element) {
    const kernel::NocAddress at = pages_.Element(element);
    const uint32_t before = at.address % kMoveIndexBytes;
    if (at.address - before != address_ || at.tile != tile_) {
      address_ = at.address - before;
      tile_ = at.tile;
      kernel::Read({tile_, address_}, memory_, kMoveIndexBytes, kernel::ReadGroup::kSecond);
      kernel::ReadBarrier(kernel::ReadGroup::kSecond);
    }
    return *kernel::L1Pointer<const uint32_t>(memory_ + before);
  }

 private:
  TensorPages pages_;
  uint32_t memory_;
  uint32_t address_ = ~0u;  // of what is in memory
  uint32_t tile_ = 0;
};

}  // namespace ttfd::ops
