// Harts that run at speeds of their own, local RAM that takes time to become zero, and what holds with
// every hazard of the cores.
#include <algorithm>
#include <vector>

#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_harts_test {
namespace {

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr uint32_t kSeen = 0x30000;
constexpr uint32_t kBoth = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc & ~hw::kSoftResetNcrisc;
constexpr char kEverything[] = "l0cache+stores+icache+localram+speed";

void Count(Rv32Asm& a, uint32_t times) {
  a.Li(kT0, times);
  const Rv32Asm::Label loop = a.Here();
  a.Addi(kT0, kT0, -1);
  a.Bne(kT0, kZero, loop);
}

// BRISC needs what NCRISC computes: waits for it, or believes that it will be there after some time.
bool HasTheResult(SimChip& chip, const Rv32Asm& compute, uint32_t wait_loops) {
  Rv32Asm a;
  if (wait_loops != 0) {
    Count(a, wait_loops);
  } else {
    a.Li(kT6, kSeen);
    const Rv32Asm::Label poll = a.Here();
    a.Fence();
    a.Lw(kT5, kT6, 0);
    a.Beq(kT5, kZero, poll);
  }
  a.Fence();
  EmitCopyWord(a, kSeen, kSeen + 4);
  a.Halt();
  chip.Load(kTile, 0, a);
  chip.Load(kTile, hw::kNcriscDefaultPc, compute);
  chip.Start(kTile, kBoth);
  EXPECT_TRUE(RunToRest(chip));
  return chip.ReadWord(kTile, kSeen + 4) == 7;
}

TEST(HazardHartSpeed, ATimeThatWasEnoughIsNot) {
  Rv32Asm compute;
  Count(compute, 1000);
  compute.StoreWord(kSeen, 7);
  compute.Halt();
  ExpectBites("speed", [&](SimChip& chip) { return HasTheResult(chip, compute, 1300); });
  ExpectHolds("speed", [&](SimChip& chip) { return HasTheResult(chip, compute, 0); });
}

TEST(HazardHartSpeed, ChangesAllTheTime) {
  // Which of two equal harts is ahead changes within one run.
  Rv32Asm a;
  a.Li(kS0, 0x20000);
  const Rv32Asm::Label loop = a.Here();
  a.Addi(kA0, kA0, 1);
  a.Jump(loop);
  SimChip chip = ChipWith("speed", 1);
  chip.Load(kTile, 0, a);
  chip.Load(kTile, hw::kNcriscDefaultPc, a);
  chip.Start(kTile, kBoth);
  int gains = 0;
  int losses = 0;
  uint32_t ahead = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(chip.device().Advance(3000).ok());
    const uint32_t now = chip.hart(kTile, hw::kBrisc).x[kA0] - chip.hart(kTile, hw::kNcrisc).x[kA0];
    const auto gained = static_cast<int32_t>(now - ahead);
    (gained > 0 ? gains : losses) += 1;
    ahead = now;
  }
  EXPECT_GT(gains, 5);
  EXPECT_GT(losses, 5);
  // A slow hart is slow, it does not stand still; and nobody executes more than one a clock.
  for (const uint32_t hart : {hw::kBrisc, hw::kNcrisc}) {
    EXPECT_GT(chip.hart(kTile, hart).retired, 10000u);
    EXPECT_LT(chip.hart(kTile, hart).retired, 150000u);
  }
}

TEST(HazardHartSpeed, GivesEachWallClockItsOwnEpoch) {
  static constexpr hw::Coordinate kOther = {3, 5};
  const auto elapsed_since = [](hw::Coordinate start) {
    return [start](SimChip& chip) {
      const uint32_t first = chip.ReadWord(start, hw::kWallClockLow);
      Rv32Asm a;
      const Rv32Asm::Label loop = a.Here();
      a.Addi(kA0, kA0, 1);
      a.Jump(loop);
      chip.Load(kTile, 0, a);
      chip.Start(kTile);
      EXPECT_TRUE(chip.device().Advance(1000).ok());
      return chip.ReadWord(kOther, hw::kWallClockLow) - first == 1000;
    };
  };
  SimChip one = ChipWith("speed", 7);
  SimChip again = ChipWith("speed", 7);
  EXPECT_EQ(one.ReadWord(kOther, hw::kWallClockLow), again.ReadWord(kOther, hw::kWallClockLow));
  ExpectBites("speed", elapsed_since(kTile), elapsed_since(kOther));
}

TEST(HazardLocalRam, TakesTimeToBecomeZero) {
  Rv32Asm compute;
  compute.Li(kS0, hw::kLocalRamAddress + 0x80);
  compute.Lw(kT0, kS0, 0);
  compute.StoreWord(kSeen, 7);
  compute.Halt();
  ExpectBites("localram", [&](SimChip& chip) { return HasTheResult(chip, compute, 600); });
  ExpectHolds("localram", [&](SimChip& chip) { return HasTheResult(chip, compute, 0); });
}

TEST(HazardLocalRam, HoldsAnythingUntilTheFirstReleaseAndZerosAfterEach) {
  for (const char* options : {"localram", "off"}) {
    SimChip chip = ChipWith(options, 3);
    const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
    const auto zeros = [&hart] {
      return std::count(hart.local_ram, hart.local_ram + hart.local_ram_bytes, std::byte{0});
    };
    EXPECT_EQ(zeros() == hart.local_ram_bytes, std::string_view(options) == "off");
    Rv32Asm a;  // sums its local RAM, then fills it
    a.Li(kS0, hw::kLocalRamAddress);
    a.Li(kS1, hw::kLocalRamAddress + hw::kLocalRamBytesBrisc);
    const Rv32Asm::Label loop = a.Here();
    a.Lw(kT0, kS0, 0);
    a.Or(kA0, kA0, kT0);
    a.Sw(kS1, kS0, 0);
    a.Addi(kS0, kS0, 4);
    a.Bne(kS0, kS1, loop);
    a.StoreWord(kSeen, 0);
    a.Sw(kA0, kT6, 0);
    a.Halt();
    chip.Load(kTile, 0, a);
    for (int release = 0; release < 3; ++release) {
      chip.WriteWord(kTile, kSeen, 1);
      chip.WriteWord(kTile, hw::kSoftReset0, hw::kSoftResetAllHarts);
      chip.Start(kTile);
      EXPECT_TRUE(RunToRest(chip));
      EXPECT_EQ(chip.ReadWord(kTile, kSeen), 0u);
    }
  }
}

// A right program for two harts and the host, run for a while: what it did.
struct Outcome {
  uint64_t retired;
  uint64_t clock;
  std::vector<uint32_t> words;

  bool operator==(const Outcome&) const = default;
};

Outcome PingPong(SimChip& chip) {
  constexpr uint32_t kTurns = 200;
  const auto player = [](uint32_t own, uint32_t other, bool first) {
    Rv32Asm a;
    a.Li(kS0, own);
    a.Li(kS1, other);
    a.Li(kS2, kTurns);
    a.Li(kS3, first ? 0 : 1);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS1, 0);
    a.Bne(kT0, kS3, loop);
    a.Addi(kT1, kS3, 1);
    a.Sw(kT1, kS0, 0);
    a.Addi(kS3, kS3, 2);
    a.Bltu(kS3, kS2, loop);
    a.Halt();
    return a;
  };
  constexpr uint32_t kFirst = kSeen;
  constexpr uint32_t kSecond = kSeen + 64;
  chip.Load(kTile, 0, player(kFirst, kSecond, true));
  chip.Load(kTile, hw::kNcriscDefaultPc, player(kSecond, kFirst, false));
  chip.Start(kTile, kBoth);
  for (int i = 0; i < 1000 && !RunToRest(chip, 500); ++i) {
  }
  return {chip.chip().retired_instructions(),
          chip.chip().clock(),
          {chip.ReadWord(kTile, kFirst), chip.ReadWord(kTile, kSecond)}};
}

TEST(Hazards, OfEqualSeedsGiveEqualRuns) {
  std::vector<Outcome> outcomes;
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip one = ChipWith(kEverything, seed);
    SimChip other = ChipWith(kEverything, seed);
    outcomes.push_back(PingPong(one));
    EXPECT_EQ(outcomes.back(), PingPong(other));
    EXPECT_EQ(std::max(outcomes.back().words[0], outcomes.back().words[1]), 200u);
  }
  const auto same = [&](const Outcome& outcome) { return outcome.clock == outcomes[0].clock; };
  EXPECT_LT(std::count_if(outcomes.begin(), outcomes.end(), same), 3);
}

// A correct wait parks, costs nothing, and is left when the word changes.
TEST(Hazards, LeaveHartsThatWaitAsleep) {
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(kEverything, seed);
    Rv32Asm a;
    a.Li(kS0, kSeen);
    a.Li(kA0, 5);
    const Rv32Asm::Label loop = a.Here();
    a.Sw(kA0, kS0, 64);  // shows what it is doing, in every trip
    a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Beq(kT0, kZero, loop);
    a.Sw(kT0, kS0, 4);
    a.Halt();
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    EXPECT_TRUE(RunToRest(chip));
    EXPECT_EQ(chip.ReadWord(kTile, kSeen + 64), 5u);
    EXPECT_EQ(chip.chip().runnable_harts(), 0u);
    const uint64_t retired = chip.chip().retired_instructions();
    EXPECT_TRUE(RunToRest(chip));
    EXPECT_EQ(chip.chip().retired_instructions(), retired);
    chip.WriteWord(kTile, kSeen, 9);
    EXPECT_TRUE(RunToRest(chip));
    EXPECT_EQ(chip.ReadWord(kTile, kSeen + 4), 9u);
  }
}

}  // namespace
}  // namespace ttfd::sim_hazard_harts_test
