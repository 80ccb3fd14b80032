// How fast harts run, with hazards: rounds of any length, and with kHazardHartSpeed every hart at a speed
// of its own that changes all the time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/sim/hart.h"
#include "runtime/sim/hazards.h"
#include "runtime/sim/rng.h"

namespace ttfd::sim {

class HartSpeed {
 public:
  explicit HartSpeed(const HazardOptions& options) : on_(options.on), rng_(options.seed, kStream) {}

  // The clocks of the next round; with hazards some at most, so that harts see each other's work in
  // between. `most` without.
  uint64_t RoundClocks(uint64_t most) {
    return on_ == 0 ? most : 1 + rng_.Below(1u << rng_.Below(kLongestRoundLog + 1));
  }

  // Number of the `clocks` left in a round in which the hart executes something.
  uint64_t BusyClocks(Hart& hart, uint64_t clocks) {
    if ((on_ & kHazardHartSpeed) == 0) return clocks;
    if (hart.speed == 0 || rng_.OneIn(kChangesOneIn)) {
      hart.speed = 1 + rng_.Below(kFullSpeed >> rng_.Below(kSlowestLog));
    }
    return (clocks * hart.speed + rng_.Below(kFullSpeed)) / kFullSpeed;
  }

 private:
  static constexpr uint64_t kStream = 3;  // of the seed (RngStream has those of the NoC)
  static constexpr uint32_t kLongestRoundLog = 9;
  static constexpr uint32_t kFullSpeed = 64;  // instructions in 64 clocks
  static constexpr uint32_t kSlowestLog = 6;
  static constexpr uint32_t kChangesOneIn = 32;

  const uint32_t on_;
  Rng rng_;
};

}  // namespace ttfd::sim
