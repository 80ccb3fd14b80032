// The fixed loop: a xorshift whose every step needs the one before.
#include "tests/bench/calibration.h"

#include <cstdint>

#include "benchmark/benchmark.h"

namespace ttfd::bench {

double CalibrationMillionPerSecond(std::chrono::nanoseconds budget) {
  constexpr uint64_t kRounds = 1'000'000;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  uint64_t state = 88172645463325252u;
  uint64_t rounds = 0;
  Clock::duration elapsed{};
  do {
    for (uint64_t i = 0; i < kRounds; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
    benchmark::DoNotOptimize(state);
    rounds += kRounds;
    elapsed = Clock::now() - start;
  } while (elapsed < budget);
  return static_cast<double>(rounds) / std::chrono::duration<double, std::micro>(elapsed).count();
}

}  // namespace ttfd::bench
