// The instruction cache: code is executed as it was fetched, until reset or RISCV_IC_INVALIDATE.
#include <functional>

#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_icache_test {
namespace {

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr uint32_t kFunction = 0x8000;
constexpr uint32_t kSeen = 0x30000;
constexpr char kHazard[] = "icache";

using Emit = std::function<void(Rv32Asm&)>;

// `addi a0, zero, value`
constexpr uint32_t LoadImmediate(uint32_t value) { return 0x13 | kA0 << 7 | value << 20; }

// A function that returns `value` in a0.
Rv32Asm Returns(uint32_t value) {
  Rv32Asm a;
  a.Word(LoadImmediate(value));
  a.Jalr(kZero, kRa, 0);
  return a;
}

// Calls a function, changes it, reads back what it stored, `between`, calls it again.
bool RunsTheNewCode(SimChip& chip, const Emit& between) {
  Rv32Asm a;
  a.Li(kS0, kFunction);
  a.Jalr(kRa, kS0, 0);
  a.Li(kA1, LoadImmediate(2));
  a.Sw(kA1, kS0, 0);
  a.Lw(kA2, kS0, 0);
  a.Addi(kZero, kA2, 0);
  between(a);
  a.Jalr(kRa, kS0, 0);
  a.Li(kS1, kSeen);
  a.Sw(kA0, kS1, 0);
  a.Halt();
  chip.Load(kTile, kFunction, Returns(1));
  chip.Load(kTile, 0, a);
  chip.Start(kTile);
  EXPECT_TRUE(RunToRest(chip));
  return chip.ReadWord(kTile, kSeen) == 2;
}

void Invalidate(Rv32Asm& a, uint32_t mask) {
  a.Li(kT0, hw::kInstructionCacheInvalidate);
  a.Li(kT1, mask);
  a.Sw(kT1, kT0, 0);
  a.Fence();
  a.Li(kT0, hw::kTensixConfig);
  a.Lw(kT1, kT0, 0);
  a.Addi(kZero, kT1, 0);
}

void Nops(Rv32Asm& a, int count) {
  for (int i = 0; i < count; ++i) a.Addi(kZero, kZero, 0);
}

TEST(HazardICache, OldCodeRunsWithoutInvalidation) {
  ExpectBites(kHazard, [](SimChip& chip) { return RunsTheNewCode(chip, [](Rv32Asm&) {}); });
  ExpectBites(kHazard,
              [](SimChip& chip) { return RunsTheNewCode(chip, [](Rv32Asm& a) { a.Fence(); }); });
}

TEST(HazardICache, OldCodeRunsWhenAnotherHartsCacheIsInvalidated) {
  ExpectBites(kHazard, [](SimChip& chip) {
    return RunsTheNewCode(chip, [](Rv32Asm& a) { Invalidate(a, 0x1E), Nops(a, 20); });
  });
}

TEST(HazardICache, NewCodeRunsTwentyInstructionsAfterInvalidation) {
  ExpectBites(kHazard, [](SimChip& chip) {
    return RunsTheNewCode(chip, [](Rv32Asm& a) { Invalidate(a, 1); });
  });
  ExpectHolds(kHazard, [](SimChip& chip) {
    return RunsTheNewCode(chip, [](Rv32Asm& a) { Invalidate(a, 1), Nops(a, 20); });
  });
}

// With stores that take their time the invalidation may happen before the new code is there.
TEST(HazardICache, TheStoreOfTheCodeIsReadBackBeforeTheInvalidation) {
  const auto works = [](SimChip& chip, bool read_back) {
    Rv32Asm a;
    a.Li(kS0, kFunction);
    a.Jalr(kRa, kS0, 0);
    a.Li(kT0, hw::kInstructionCacheInvalidate);
    a.Li(kT1, 1);
    a.Li(kA1, LoadImmediate(2));
    a.Sw(kA1, kS0, 0);
    if (read_back) {
      a.Lw(kA2, kS0, 0);
      a.Addi(kZero, kA2, 0);
    }
    a.Sw(kT1, kT0, 0);
    a.Fence();
    a.Li(kT0, hw::kTensixConfig);
    a.Lw(kT1, kT0, 0);
    a.Addi(kZero, kT1, 0);
    Nops(a, 20);
    a.Jalr(kRa, kS0, 0);
    a.Li(kS1, kSeen);
    a.Sw(kA0, kS1, 0);
    a.Halt();
    chip.Load(kTile, kFunction, Returns(1));
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    EXPECT_TRUE(RunToRest(chip));
    return chip.ReadWord(kTile, kSeen) == 2;
  };
  ExpectBites("icache+stores", [&](SimChip& chip) { return works(chip, false); });
  ExpectHolds("icache+stores", [&](SimChip& chip) { return works(chip, true); });
}

// What lies behind executed code is fetched along with it.
TEST(HazardICache, CodeNextToExecutedCodeIsStaleToo) {
  const auto works = [](SimChip& chip, bool far) {
    const uint32_t next = kFunction + (far ? 0x1000 : 0x80);
    Rv32Asm a;
    a.Li(kS0, kFunction);
    a.Jalr(kRa, kS0, 0);
    a.Li(kS1, next);
    a.Li(kA1, Returns(2).words()[0]);
    a.Sw(kA1, kS1, 0);
    a.Li(kA1, Returns(2).words()[1]);
    a.Sw(kA1, kS1, 4);
    a.Jalr(kRa, kS1, 0);
    a.Li(kS1, kSeen);
    a.Sw(kA0, kS1, 0);
    a.Halt();
    chip.Load(kTile, kFunction, Returns(1));
    chip.Load(kTile, next, Returns(1));
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    EXPECT_TRUE(RunToRest(chip));
    return chip.ReadWord(kTile, kSeen) == 2;
  };
  ExpectBites(kHazard, [&](SimChip& chip) { return works(chip, false); });
  ExpectHolds(kHazard, [&](SimChip& chip) { return works(chip, true); });
}

TEST(HazardICache, ResetDropsTheCode) {
  const auto works = [](SimChip& chip, bool reset) {
    Rv32Asm a;
    a.Li(kS0, kFunction);
    const Rv32Asm::Label again = a.Here();
    a.Jalr(kRa, kS0, 0);
    a.Li(kS1, kSeen);
    a.Sw(kA0, kS1, 0);
    a.Fence();
    a.Lw(kT0, kS1, 16);
    const Rv32Asm::Label wait = a.Here();
    a.Fence();
    a.Lw(kT1, kS1, 16);
    a.Beq(kT0, kT1, wait);
    a.Jump(again);
    chip.Load(kTile, kFunction, Returns(1));
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    EXPECT_TRUE(RunToRest(chip));
    EXPECT_EQ(chip.ReadWord(kTile, kSeen), 1u);
    chip.WriteWord(kTile, kFunction, LoadImmediate(2));
    if (reset) {
      chip.WriteWord(kTile, hw::kSoftReset0, hw::kSoftResetAllHarts);
      chip.Start(kTile);
    } else {
      chip.WriteWord(kTile, kSeen + 16, 1);
    }
    EXPECT_TRUE(RunToRest(chip));
    return chip.ReadWord(kTile, kSeen) == 2;
  };
  ExpectBites(kHazard, [&](SimChip& chip) { return works(chip, false); });
  ExpectHolds(kHazard, [&](SimChip& chip) { return works(chip, true); });
}

// BRISC loads code for NCRISC, which cannot invalidate its own cache.
TEST(HazardICache, EachBitOfTheMaskDropsTheCodeOfItsHart) {
  constexpr uint32_t kHarts[] = {hw::kBrisc, hw::kTrisc0, hw::kTrisc1, hw::kTrisc2, hw::kNcrisc};
  constexpr uint32_t kPcs[] = {0, hw::kTriscDefaultPc[0], hw::kTriscDefaultPc[1],
                               hw::kTriscDefaultPc[2], hw::kNcriscDefaultPc};
  constexpr uint32_t kGo = kSeen + 0x400;
  for (uint32_t bit = 1; bit < std::size(kHarts); ++bit) {
    ExpectHolds(kHazard, [&](SimChip& chip) {
      Rv32Asm sub;
      sub.Li(kS0, kFunction);
      sub.Jalr(kRa, kS0, 0);
      sub.Li(kS1, kSeen);
      sub.Sw(kA0, kS1, 0);
      const Rv32Asm::Label wait = sub.Here();
      sub.Fence();
      sub.Lw(kT1, kS1, 0x400);
      sub.Beq(kT1, kZero, wait);
      Nops(sub, 20);
      sub.Jalr(kRa, kS0, 0);
      sub.Sw(kA0, kS1, 4);
      sub.Halt();
      Rv32Asm main;
      main.Li(kS1, kSeen);
      const Rv32Asm::Label first = main.Here();
      main.Fence();
      main.Lw(kT1, kS1, 0);
      main.Beq(kT1, kZero, first);
      main.StoreWord(kFunction, LoadImmediate(2));
      main.Lw(kT5, kT6, 0);
      main.Addi(kZero, kT5, 0);
      Invalidate(main, 1u << bit);
      main.StoreWord(kGo, 1);
      main.Halt();
      chip.Load(kTile, kFunction, Returns(1));
      chip.Load(kTile, 0, main);
      chip.Load(kTile, kPcs[bit], sub);
      chip.WriteWord(kTile, kGo, 0);
      chip.Start(kTile,
                 hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc & ~hw::SoftResetBit(kHarts[bit]));
      EXPECT_TRUE(RunToRest(chip));
      EXPECT_EQ(chip.ReadWord(kTile, kSeen), 1u);
      return chip.ReadWord(kTile, kSeen + 4) == 2;
    });
  }
}

TEST(HazardICache, CostsMemoryForExecutedCodeOnly) {
  // Seven hundred tables of 6 MiB, of which next to nothing is touched.
  SimChip chip = ChipWith(kHazard, 1);
  Rv32Asm a;
  a.Halt();
  for (uint32_t i = 0; i < chip.chip().tensix_count(); ++i) {
    const hw::Coordinate tile = chip.chip().TensixCoordinate(i);
    chip.Load(tile, 0, a);
    chip.Start(tile);
  }
  EXPECT_TRUE(RunToRest(chip));
}

}  // namespace
}  // namespace ttfd::sim_hazard_icache_test
