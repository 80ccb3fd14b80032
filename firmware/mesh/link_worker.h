// Scratch of the two kernels of a lane on the link worker (ring_words.h).
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

// Lane of this hart.
inline constexpr uint32_t kLane =
    kernel::kHart == hw::kBrisc || kernel::kHart == hw::kNcrisc ? 0 : 1;

class Scratch {
 public:
  Scratch()
      : begin_((kernel::CircularBuffer(kLane).address() + kRingStampBytes - 1) &
               ~(kRingStampBytes - 1)) {}
  uint32_t Slot(uint32_t number) const { return begin_ + number % kRingSlots * kRingSegmentBytes; }
  uint32_t Own(uint32_t number) const { return Behind(kRingSlots + (number & 1)); }
  uint32_t Stamp(uint32_t number) const {
    return Behind(kRingSlots + 2) + number * kRingStampBytes;
  }

 private:
  uint32_t Behind(uint32_t segments) const { return begin_ + segments * kRingSegmentBytes; }

  uint32_t begin_;
};

}  // namespace ttfd::mesh
