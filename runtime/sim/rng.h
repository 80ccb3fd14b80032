// Random numbers that can be repeated: the hazards of a chip take their choices from them.
#pragma once

#include <cstdint>

namespace ttfd::sim {

// Users of the seed: each has numbers of its own, so that one hazard does not change another.
enum RngStream : uint64_t {
  kRngOfNoc = 1,
  kRngOfStreams = 2,
  kRngOfEpochs = 3,
  kRngOfHost = 4,
  kEngineStreams = uint64_t{1} << 40,  // one a tile, from here
};

// SplitMix64. Equal seeds give equal numbers; those of neighbouring seeds have nothing in common.
class Rng {
 public:
  // `stream` keeps users of one seed apart.
  Rng(uint64_t seed, uint64_t stream) : state_(Mix(seed) ^ Mix(~stream)) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15;
    return Mix(state_);
  }
  // Below `bound`, which is not 0. Bounds are small: none of the results is noticeably more likely.
  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>((Next() >> 32) * uint64_t{bound} >> 32);
  }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  uint64_t state_;
};

// How many clocks something takes that takes as long as it likes: mostly few, at most kMaxDelay.
inline constexpr uint32_t kMaxDelay = 3000;
inline uint64_t Delay(Rng& rng) {
  const uint32_t kind = rng.Below(16);
  const uint32_t bound = kind < 7 ? 12 : kind < 12 ? 100 : kind < 15 ? 500 : kMaxDelay;
  return rng.Below(bound + 1);
}

}  // namespace ttfd::sim
