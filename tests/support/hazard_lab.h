// Programs that are right or wrong about what the hardware promises, run with a hazard and without.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"
#include "tests/support/noc_asm.h"
#include "tests/support/rv32_asm.h"
#include "tests/support/sim_chip.h"

namespace ttfd {

// Runs something on a chip; true: it came out as it should.
using Experiment = std::function<bool(SimChip&)>;

inline constexpr uint64_t kHazardSeeds = 24;  // 1 to this one

inline SimChip ChipWith(const std::string& hazards, uint64_t seed) {
  return SimChip(("sim:hazards=" + hazards + ",seed=" + std::to_string(seed)).c_str());
}

// How often the experiment does not come out as it should with these hazards, of kHazardSeeds.
inline uint64_t CountFailures(const std::string& hazards, const Experiment& experiment) {
  uint64_t failures = 0;
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(hazards, seed);
    if (!experiment(chip)) ++failures;
  }
  return failures;
}

// A wrong program comes out right as long as the hazard is off, which is why nobody notices, and fails
// with it for at least one of the seeds.
inline void ExpectBites(const std::string& hazards, const Experiment& wrong) {
  SimChip plain;
  EXPECT_TRUE(wrong(plain)) << "the wrong program shows without " << hazards;
  EXPECT_GT(CountFailures(hazards, wrong), 0u) << hazards << " does not bite";
}

// A right one: whatever happens, it works.
inline void ExpectHolds(const std::string& hazards, const Experiment& right) {
  SimChip plain;
  EXPECT_TRUE(right(plain)) << "without hazards";
  EXPECT_EQ(CountFailures(hazards, right), 0u) << hazards;
}

inline void ExpectBites(const std::string& hazards, const Experiment& wrong,
                        const Experiment& right) {
  ExpectBites(hazards, wrong);
  ExpectHolds(hazards, right);
}

// Runs until nothing happens any more. False: something still does after `clocks`.
inline bool RunToRest(SimChip& chip, uint64_t clocks = 200000) {
  const StatusOr<AdvanceResult> result = chip.device().Advance(clocks);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() && result->quiescent;
}

// Puts programs on the BRISCs of their tiles, starts them, the last one first (who waits is there before
// who sends), and runs the chip until nothing happens any more.
using TileProgram = std::pair<hw::Coordinate, const Rv32Asm*>;
inline Status RunAll(SimChip& chip, const std::vector<TileProgram>& programs) {
  for (const auto& [tile, program] : programs) chip.Load(tile, 0, *program);
  for (auto it = programs.rbegin(); it != programs.rend(); ++it) chip.Start(it->first);
  const StatusOr<AdvanceResult> result = chip.device().Advance(1'000'000);
  RETURN_IF_ERROR(result.status());
  return result->quiescent ? OkStatus() : Internal("the programs do not come to rest");
}

// Sleeps for ever.
inline void EmitEnd(Rv32Asm& a) {
  const Rv32Asm::Label end = a.Here();
  a.Fence();
  a.Jump(end);
}
inline void EmitStore(Rv32Asm& a, uint32_t address, uint32_t value) {
  a.Li(kT6, address);
  a.Li(kT5, value);
  a.Sw(kT5, kT6, 0);
}
// What is where, or was when the L0 cache read it. Uses t5 and t6, as those below.
inline void EmitCopyWord(Rv32Asm& a, uint32_t from, uint32_t to) {
  a.Li(kT6, from);
  a.Lw(kT5, kT6, 0);
  a.Li(kT6, to);
  a.Sw(kT5, kT6, 0);
}
// Polls until the word at `address` is `value`.
inline void EmitAwaitWord(Rv32Asm& a, uint32_t address, uint32_t value) {
  a.Li(kT6, address);
  a.Li(kT5, value);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT4, kT6, 0);
  a.Bne(kT4, kT5, loop);
  a.Fence();
}
inline void EmitAwaitAccepted(Rv32Asm& a, uint32_t niu = 0, uint32_t buffer = 0) {
  EmitAwaitWord(a,
                hw::kNiuAddress + niu * hw::kNiuStride + buffer * hw::kNiuCommandBufferStride +
                    hw::kNocCommand,
                0);
}
inline void EmitAwaitCounter(Rv32Asm& a, uint32_t counter, uint32_t value, uint32_t niu = 0) {
  EmitAwaitWord(a, hw::kNiuAddress + niu * hw::kNiuStride + hw::kNocStatus + 4 * counter, value);
}
// Issues the command and waits until it is accepted.
inline void EmitSend(Rv32Asm& a, const NocFields& fields) {
  EmitNoc(a, fields);
  EmitAwaitAccepted(a, fields.niu, fields.buffer);
}

// Waits until the counter of a stream is not zero.
inline void EmitAwaitStream(Rv32Asm& a, uint32_t stream) {
  a.Li(kT6, hw::StreamRegister(stream, hw::kStreamSpaceAvailable));
  const Rv32Asm::Label loop = a.Here();
  a.Lw(kT5, kT6, 0);
  a.Beq(kT5, kZero, loop);
}

// Adds one to the counter of a stream of the own tile.
inline void EmitBumpStream(Rv32Asm& a, uint32_t stream) {
  a.Li(kT6, hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate));
  a.Li(kT5, 1u << hw::kStreamUpdateShift);
  a.Sw(kT5, kT6, 0);
}

}  // namespace ttfd
