// A stream's update shows when it likes, and is never lost (hazard "streams").
#include "runtime/hw/stream.h"
#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_stream_test {
namespace {

constexpr hw::Coordinate kA = {1, 2};
constexpr hw::Coordinate kB = {3, 5};
constexpr uint32_t kAvailable = hw::StreamRegister(7, hw::kStreamSpaceAvailable);
constexpr uint32_t kUpdate = hw::StreamRegister(7, hw::kStreamSpaceAvailableUpdate);
constexpr uint32_t kSize = hw::StreamRegister(7, hw::kStreamBufferSize);
constexpr uint32_t kResult = 0xB000;

uint32_t Add(uint32_t count) { return count << hw::kStreamUpdateShift; }

TEST(HazardStreams, AnUpdateIsNotThereBecauseItWasWritten) {
  const auto update = [](bool waits) {
    return [waits](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kUpdate, Add(3));
      if (waits) EmitAwaitWord(a, kAvailable, 3);
      EmitCopyWord(a, kAvailable, kResult);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == 3;
    };
  };
  ExpectBites("streams", update(false), update(true));
}

TEST(HazardStreams, AnAcknowledgedInlineWriteHasReachedTheStreamNotItsRegister) {
  // A adds to B's stream, waits for the acknowledgement, and reads the count over the NoC.
  const auto update = [](bool polls) {
    return [polls](SimChip& chip) {
      Rv32Asm a;
      EmitSend(a, NocInline(kA, kB, kUpdate, Add(1)));
      EmitAwaitCounter(a, hw::kNocWriteAcks, 1);
      const Rv32Asm::Label again = a.Here();
      EmitReadCounter(a, 0, hw::kNocReadResponses, kResult + 64);
      EmitSend(a, NocRead(kA, kB, kAvailable, kResult, 4));
      a.Li(kT6, kResult + 64);
      a.Lw(kT5, kT6, 0);
      a.Li(kT6, hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocReadResponses);
      const Rv32Asm::Label loop = a.Here();
      a.Fence();
      a.Lw(kT4, kT6, 0);
      a.Beq(kT4, kT5, loop);
      if (polls) {
        a.Li(kT6, kResult);
        a.Lw(kT5, kT6, 0);
        a.Beq(kT5, kZero, again);
      }
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == 1;
    };
  };
  ExpectBites("streams", update(false), update(true));
}

TEST(HazardStreams, UpdatesOfManyAreAllCounted) {
  for (uint32_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip(("sim:hazards=noc+streams,seed=" + std::to_string(seed)).c_str());
    const auto adds = [](hw::Coordinate self, uint32_t count) {
      Rv32Asm a;
      for (uint32_t i = 0; i < 20; ++i) EmitSend(a, NocInline(self, kB, kUpdate, Add(count)));
      EmitEnd(a);
      return a;
    };
    const Rv32Asm one = adds(kA, 1);
    const Rv32Asm other = adds({2, 2}, 100);
    Rv32Asm own;
    for (uint32_t i = 0; i < 20; ++i) EmitStore(own, kUpdate, Add(hw::kStreamCounterMask));  // -1
    EmitEnd(own);
    chip.WriteWord(kB, kUpdate, Add(7));  // the host's
    ASSERT_TRUE(RunAll(chip, {{kA, &one}, {{2, 2}, &other}, {kB, &own}}).ok());
    EXPECT_EQ(chip.ReadWord(kB, kAvailable), 20u + 2000u - 20u + 7u) << "seed " << seed;
  }
}

TEST(HazardStreams, SettingAStreamForgetsWhatWasOnItsWay) {
  for (uint32_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip(("sim:hazards=streams,seed=" + std::to_string(seed)).c_str());
    Rv32Asm a;
    EmitStore(a, kUpdate, Add(3));
    EmitStore(a, kSize, 10);
    EmitStore(a, kUpdate, Add(5));
    EmitEnd(a);
    ASSERT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    EXPECT_EQ(chip.ReadWord(kA, kAvailable), 15u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ttfd::sim_hazard_stream_test
