// Programs that rely on what the hardware does not promise, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "runtime/hw/stream.h"
#include "tests/support/sim_chip.h"

namespace ttfd {

inline constexpr uint64_t kHazardSeeds = 16;  // 1 to this one

inline SimChip ChipWith(const std::string& hazards, uint64_t seed) {
  return SimChip(("sim:hazards=" + hazards + ",seed=" + std::to_string(seed)).c_str());
}

// `works(chip)` loads and runs a program and tells whether it did what its author expects. How often it
// does not, with these hazards, of kHazardSeeds.
template <typename Works>
uint64_t CountFailures(const std::string& hazards, Works works) {
  uint64_t failures = 0;
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(hazards, seed);
    if (!works(chip)) ++failures;
  }
  return failures;
}

// A wrong program: the plain model forgives it, the hazard does not.
template <typename Works>
void ExpectBites(const std::string& hazards, Works works) {
  SimChip plain;
  EXPECT_TRUE(works(plain)) << "without hazards";
  EXPECT_GT(CountFailures(hazards, works), 0u) << hazards;
}

// A right one: whatever happens, it works.
template <typename Works>
void ExpectHolds(const std::string& hazards, Works works) {
  SimChip plain;
  EXPECT_TRUE(works(plain)) << "without hazards";
  EXPECT_EQ(CountFailures(hazards, works), 0u) << hazards;
}

// Runs until nothing happens any more. False: something still does after `clocks`.
inline bool RunToRest(SimChip& chip, uint64_t clocks = 200000) {
  const StatusOr<AdvanceResult> result = chip.device().Advance(clocks);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() && result->quiescent;
}

// Copies a word of L1, where somebody else may have put it, to `to` after a fence. Uses t5 and t6.
inline void EmitCopyWord(Rv32Asm& a, uint32_t from, uint32_t to) {
  a.Fence();
  a.Li(kT6, from);
  a.Lw(kT5, kT6, 0);
  a.Li(kT6, to);
  a.Sw(kT5, kT6, 0);
}

// Waits until the counter of a stream is not zero. Uses t5 and t6.
inline void EmitAwaitStream(Rv32Asm& a, uint32_t stream) {
  a.Li(kT6, hw::StreamRegister(stream, hw::kStreamSpaceAvailable));
  const Rv32Asm::Label loop = a.Here();
  a.Lw(kT5, kT6, 0);
  a.Beq(kT5, kZero, loop);
}

// Adds one to the counter of a stream of the own tile. Uses t5 and t6.
inline void EmitBumpStream(Rv32Asm& a, uint32_t stream) {
  a.Li(kT6, hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate));
  a.Li(kT5, 1u << hw::kStreamUpdateShift);
  a.Sw(kT5, kT6, 0);
}

}  // namespace ttfd
