// The L0 data cache: what was read once stays as it was until a fence, an AMO or an own store.
#include <functional>

#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_l0_cache_test {
namespace {

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr uint32_t kData = 0x20000;
constexpr uint32_t kSeen = 0x30000;
constexpr uint32_t kStream = 5;
constexpr char kHazard[] = "l0cache";

using Emit = std::function<void(Rv32Asm&)>;

// Reads a word; the host changes it and says so by a stream; `between`; reads it again.
bool SeesTheChange(SimChip& chip, const Emit& before, const Emit& between) {
  Rv32Asm a;
  before(a);
  a.Li(kS0, kData);
  a.Lw(kA0, kS0, 4);
  EmitAwaitStream(a, kStream);
  between(a);
  a.Lw(kA1, kS0, 4);
  a.Li(kS1, kSeen);
  a.Sw(kA0, kS1, 0);
  a.Sw(kA1, kS1, 4);
  a.Halt();
  chip.Load(kTile, 0, a);
  chip.WriteWord(kTile, kData + 4, 1);
  chip.Start(kTile);
  EXPECT_TRUE(RunToRest(chip));
  chip.WriteWord(kTile, kData + 4, 2);
  chip.WriteWord(kTile, hw::StreamRegister(kStream, hw::kStreamSpaceAvailableUpdate),
                 1u << hw::kStreamUpdateShift);
  EXPECT_TRUE(RunToRest(chip));
  EXPECT_EQ(chip.ReadWord(kTile, kSeen), 1u);
  return chip.ReadWord(kTile, kSeen + 4) == 2;
}

const Emit kNothing = [](Rv32Asm&) {};

TEST(HazardL0Cache, ShowsWhatWasThereBeforeWithoutAFence) {
  ExpectBites(kHazard, [](SimChip& chip) { return SeesTheChange(chip, kNothing, kNothing); });
}

TEST(HazardL0Cache, AnyWordOfTheLineKeepsItStale) {
  ExpectBites(kHazard, [](SimChip& chip) {
    return SeesTheChange(
        chip, [](Rv32Asm& a) { a.Li(kS0, kData), a.Lbu(kA2, kS0, 15); }, kNothing);
  });
}

TEST(HazardL0Cache, AFenceDropsIt) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    return SeesTheChange(chip, kNothing, [](Rv32Asm& a) { a.Fence(); });
  });
}

TEST(HazardL0Cache, AnAmoAnywhereDropsIt) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    return SeesTheChange(chip, kNothing, [](Rv32Asm& a) {
      a.Li(kS2, kData + 0x100);
      a.AmoAdd(kZero, kS2, kZero);
    });
  });
}

TEST(HazardL0Cache, AnOwnStoreToTheLineDropsIt) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    return SeesTheChange(chip, kNothing, [](Rv32Asm& a) { a.Sb(kZero, kS0, 9); });
  });
  ExpectBites(kHazard, [](SimChip& chip) {  // to another line
    return SeesTheChange(chip, kNothing, [](Rv32Asm& a) { a.Sb(kZero, kS0, 16); });
  });
}

// Four lines and no more: a loop over 64 of them leaves nothing of the first.
TEST(HazardL0Cache, HoldsFourLines) {
  const auto read_lines = [](int lines) {
    return [lines](Rv32Asm& a) {
      a.Li(kS2, kData + 0x1000);
      for (int i = 0; i < lines; ++i) a.Lw(kZero, kS2, 16 * i);
    };
  };
  ExpectHolds(kHazard,
              [&](SimChip& chip) { return SeesTheChange(chip, kNothing, read_lines(100)); });
  EXPECT_EQ(
      CountFailures(kHazard,
                    [&](SimChip& chip) { return SeesTheChange(chip, kNothing, read_lines(3)); }),
      kHazardSeeds);
}

TEST(HazardL0Cache, IsSwitchedOffByCfg0) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    return SeesTheChange(
        chip,
        [](Rv32Asm& a) {
          a.Li(kT0, hw::kCsrConfig0DataCacheOff);
          a.I(0x2073, kZero, kT0, hw::kCsrConfig0);  // csrs
        },
        kNothing);
  });
}

// The classic: polls a word that another hart of the tile writes.
bool PollEnds(SimChip& chip, bool fence) {
  Rv32Asm poll;
  poll.Li(kS0, kData);
  poll.Li(kT1, 5000);
  const Rv32Asm::Label loop = poll.Here();
  if (fence) poll.Fence();
  poll.Addi(kT1, kT1, -1);
  const Rv32Asm::Label give_up = poll.Here();
  poll.Beq(kT1, kZero, give_up);
  poll.Lw(kT0, kS0, 0);
  poll.Beq(kT0, kZero, loop);
  poll.BindBranch(give_up, poll.Here());
  poll.StoreWord(kSeen, 0);
  poll.Sw(kT0, kT6, 0);
  poll.Halt();
  Rv32Asm write;
  write.Li(kT0, 300);
  const Rv32Asm::Label wait = write.Here();
  write.Addi(kT0, kT0, -1);
  write.Bne(kT0, kZero, wait);
  write.StoreWord(kData, 1);
  write.Halt();
  chip.Load(kTile, 0, poll);
  chip.Load(kTile, hw::kNcriscDefaultPc, write);
  chip.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc & ~hw::kSoftResetNcrisc);
  EXPECT_TRUE(RunToRest(chip));
  return chip.ReadWord(kTile, kSeen) == 1;
}

TEST(HazardL0Cache, APollWithoutAFenceNeverEnds) {
  ExpectBites(kHazard, [](SimChip& chip) { return PollEnds(chip, false); });
  ExpectHolds(kHazard, [](SimChip& chip) { return PollEnds(chip, true); });
}

}  // namespace
}  // namespace ttfd::sim_hazard_l0_cache_test
