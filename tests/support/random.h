// Numbers for tests: the same for equal seeds, on every machine.
#pragma once

#include <cstdint>

namespace ttfd {

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 0x9E3779B9u) {}
  // PCG's output step over a 64-bit congruential state.
  uint32_t operator()() {
    const uint64_t old = state_;
    state_ = old * 6364136223846793005u + 1442695040888963407u;
    const auto mixed = static_cast<uint32_t>((old >> 18 ^ old) >> 27);
    const auto turn = static_cast<uint32_t>(old >> 59);
    return mixed >> turn | mixed << (-turn & 31);
  }

 private:
  uint64_t state_;
};

}  // namespace ttfd
