// The wall clock of a tile: 64 bits, read in two halves.
#pragma once

#include <cstdint>

#include "runtime/hw/tensix.h"

namespace ttfd::sim {

class WallClock {
 public:
  // It is `epoch` ahead of the chip's clock.
  void SetEpoch(uint64_t epoch) { epoch_ = epoch; }
  void Reset() { high_latched_ = 0; }

  // Its three registers, when the chip's clock is `now`.
  uint32_t Read(uint32_t address, uint64_t now) {
    now += epoch_;
    const auto high = static_cast<uint32_t>(now >> 32);
    if (address == hw::kWallClockHigh) return high;
    if (address == hw::kWallClockHighLatched) return high_latched_;
    high_latched_ = high;
    return static_cast<uint32_t>(now);
  }

 private:
  uint64_t epoch_ = 0;
  uint32_t high_latched_ = 0;
};

}  // namespace ttfd::sim
