// RELAY_LINEAR: a stretch of one tile's memory, or of host memory.
#pragma once

#include <stdint.h>

#include "firmware/cq/prefetch/relay.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware::prefetch {

// The address is a multiple of 16. Scratch is 64-byte aligned, and reads of DRAM and host memory keep
// the address modulo 64, so the first piece starts a little behind the beginning of its half.
class LinearSource {
 public:
  LinearSource(uint32_t record_xy, uint32_t low, uint32_t high, uint32_t length)
      : low_(low),
        high_(high | PcieMid(record_xy)),
        remaining_(length),
        skew_(low & (hw::kDramAlignment - 1)),
        tile_(TileOf(record_xy)) {}

  uint32_t skew() const { return skew_; }

  uint32_t Fill(uint32_t scratch, uint32_t room) {
    uint32_t to = scratch + (low_ & (hw::kDramAlignment - 1));
    uint32_t budget = room - (to - scratch);
    if (budget > remaining_) {
      budget = remaining_;
    }
    const uint32_t filled = budget;
    remaining_ -= budget;
    while (budget != 0) {
      const uint32_t piece = budget < hw::kNocMaxPacketBytes ? budget : hw::kNocMaxPacketBytes;
      RelayBuffer::AwaitFree();
      RelayBuffer::Set(hw::kNocTargetMid, high_);
      StartRelayRead(tile_, low_, to, piece);
      budget -= piece, to += piece;
      low_ += piece;
      high_ += low_ < piece ? 1 : 0;
    }
    return filled;
  }

 private:
  uint32_t low_;
  uint32_t high_;
  uint32_t remaining_;
  const uint32_t skew_;
  const uint32_t tile_;
};

}  // namespace ttfd::firmware::prefetch
