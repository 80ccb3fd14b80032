// Stamps: when a kernel began and ended.
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

class Stopwatch {
 public:
  // Begins now.
  explicit Stopwatch(const RingWords& words) : words_(words), begin_(kernel::WallClock()) {}
  // Writes page words.buffers.stamp_page + `number`: 0 for the sender, 1 for the receiver. `scratch`: address of
  // kRingStampBytes in L1, a multiple of them.
  void Stop(uint32_t number, uint32_t scratch) const {
    *kernel::L1Pointer<RingStamp>(scratch) = {begin_, kernel::WallClock()};
    const kernel::InterleavedBuffer stamps(words_.buffers.stamps, kRingStampBytes);
    kernel::Write(scratch, stamps.Page(words_.buffers.stamp_page + number), sizeof(RingStamp));
    kernel::WriteBarrier();
  }

 private:
  const RingWords& words_;
  const uint64_t begin_;
};

}  // namespace ttfd::mesh
