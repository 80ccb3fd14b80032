// Stores to different regions become visible out of order; a hart alone does not notice.
#include <functional>
#include <vector>

#include "runtime/sim/inspector.h"
#include "tests/support/hazard_lab.h"
#include "tests/support/noc_asm.h"
#include "tests/support/random.h"

namespace ttfd::sim_hazard_stores_test {
namespace {

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr hw::Coordinate kOther = {2, 2};
constexpr uint32_t kData = 0x20000;
constexpr uint32_t kSeen = 0x30000;
constexpr uint32_t kStream = 5;
constexpr char kHazard[] = "stores";
constexpr uint32_t kBoth = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc & ~hw::kSoftResetNcrisc;

using Emit = std::function<void(Rv32Asm&)>;

// What may stand between a store to L1, at s0, and one to a register that tells somebody of it.
void Nothing(Rv32Asm&) {}
void FenceOnly(Rv32Asm& a) { a.Fence(); }
void ReadBack(Rv32Asm& a) { a.Lw(kT4, kS0, 0); }
void ReadBackAndUse(Rv32Asm& a) {
  a.Lw(kT4, kS0, 0);
  a.Addi(kZero, kT4, 0);
}
void ReadBackAndFence(Rv32Asm& a) {
  a.Lw(kT4, kS0, 0);
  a.Fence();
}
void ReadBackAndSevenOthers(Rv32Asm& a) {
  a.Lw(kT4, kS0, 0);
  for (int i = 0; i < 7; ++i) a.Addi(kZero, kZero, 0);
}
void FenceAndReadAnotherWord(Rv32Asm& a) {
  a.Fence();
  a.Lw(kT4, kS0, 256);
  a.Addi(kZero, kT4, 0);
}
void ReadAnotherWord(Rv32Asm& a) {
  a.Lw(kT4, kS0, 256);
  a.Addi(kZero, kT4, 0);
}
void Amo(Rv32Asm& a) {
  a.Li(kT4, kData + 256);
  a.AmoAdd(kT4, kT4, kZero);
  a.Addi(kZero, kT4, 0);
}

// Fills a word in L1 and sends it to another tile.
bool SendsWhatItStored(SimChip& chip, const Emit& between) {
  NocFields write = NocWrite(kTile, kData, kOther, kData, 16);
  Rv32Asm a;
  // All but the command first, so that little time passes behind the store to L1.
  EmitNoc(a, write);
  a.Li(kS1, hw::kNiuAddress + hw::kNocCommand);
  a.Li(kS0, kData);
  a.Li(kA0, 7);
  a.Li(kA1, 1);
  const Rv32Asm::Label free = a.Here();
  a.Lw(kT4, kS1, 0);
  a.Bne(kT4, kZero, free);
  for (int i = 0; i < 40; ++i) a.Addi(kZero, kZero, 0);
  a.Sw(kA0, kS0, 0);
  between(a);
  a.Sw(kA1, kS1, 0);
  for (int i = 0; i < 10; ++i) a.Addi(kZero, kZero, 0);
  a.Halt();
  chip.Load(kTile, 0, a);
  chip.WriteWord(kTile, kData, 1);
  chip.Start(kTile);
  EXPECT_TRUE(RunToRest(chip));
  EXPECT_EQ(chip.ReadWord(kTile, kData), 7u);
  return chip.ReadWord(kOther, kData) == 7;
}

TEST(HazardStores, AreSentByTheNocBeforeTheyAreInL1) {
  for (const auto& between : {Nothing, FenceOnly, ReadBack, ReadAnotherWord}) {
    ExpectBites(kHazard, [&](SimChip& chip) { return SendsWhatItStored(chip, between); });
  }
}

TEST(HazardStores, AreInL1OnceTheyWereReadBackAndUsed) {
  for (const auto& between :
       {ReadBackAndUse, ReadBackAndFence, ReadBackAndSevenOthers, FenceAndReadAnotherWord, Amo}) {
    ExpectHolds(kHazard, [&](SimChip& chip) { return SendsWhatItStored(chip, between); });
  }
}

// Stores a word 32 times, each time telling another hart by a stream, which copies what it finds.
bool TellsByAStream(SimChip& chip, const Emit& between) {
  constexpr uint32_t kTimes = 32;
  Rv32Asm tell;
  Rv32Asm listen;
  tell.Li(kS0, kData);
  for (uint32_t i = 0; i < kTimes; ++i) {
    tell.Li(kA0, i + 1);
    tell.Sw(kA0, kS0, 0);
    between(tell);
    EmitBumpStream(tell, kStream + i);
    EmitAwaitStream(listen, kStream + i);
    listen.Fence();
    EmitCopyWord(listen, kData, kSeen + 4 * i);
    listen.Lw(kT5, kT6, 0);
    listen.Addi(kZero, kT5, 0);
    EmitBumpStream(listen, 63 - kStream);
    // The next only when this one was seen.
    tell.Li(kT6, hw::StreamRegister(63 - kStream, hw::kStreamSpaceAvailable));
    tell.Li(kT4, i + 1);
    const Rv32Asm::Label wait = tell.Here();
    tell.Lw(kT5, kT6, 0);
    tell.Bne(kT5, kT4, wait);
  }
  tell.Halt();
  listen.Halt();
  chip.Load(kTile, 0, tell);
  chip.Load(kTile, hw::kNcriscDefaultPc, listen);
  chip.Start(kTile, kBoth);
  EXPECT_TRUE(RunToRest(chip));
  bool good = true;
  for (uint32_t i = 0; i < kTimes; ++i) good &= chip.ReadWord(kTile, kSeen + 4 * i) == i + 1;
  return good;
}

TEST(HazardStores, ToAStreamOvertakeThoseToL1) {
  ExpectBites(kHazard, [](SimChip& chip) { return TellsByAStream(chip, Nothing); });
  ExpectBites(kHazard, [](SimChip& chip) { return TellsByAStream(chip, FenceOnly); });
  ExpectHolds(kHazard, [](SimChip& chip) { return TellsByAStream(chip, ReadBackAndUse); });
}

// A word and then a flag, both in L1, another hart polls the flag.
TEST(HazardStores, OfOneRegionStayInOrder) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    constexpr uint32_t kFlag = kData + 0x1000;
    Rv32Asm write;
    Rv32Asm read;
    for (uint32_t i = 1; i <= 16; ++i) {
      write.StoreWord(kData + 4 * i, i);
      write.StoreWord(kFlag + 16 * i, 1);
      read.Li(kT6, kFlag + 16 * i);
      const Rv32Asm::Label wait = read.Here();
      read.Fence();
      read.Lw(kT5, kT6, 0);
      read.Beq(kT5, kZero, wait);
      read.Fence();
      EmitCopyWord(read, kData + 4 * i, kSeen + 4 * i);
    }
    write.Halt();
    read.Halt();
    chip.Load(kTile, 0, write);
    chip.Load(kTile, hw::kNcriscDefaultPc, read);
    chip.Start(kTile, kBoth);
    EXPECT_TRUE(RunToRest(chip));
    bool good = true;
    for (uint32_t i = 1; i <= 16; ++i) good &= chip.ReadWord(kTile, kSeen + 4 * i) == i;
    return good;
  });
}

// A hart that stores and is put into reset by the host before they are there.
TEST(HazardStores, LandWhenTheHartIsPutIntoReset) {
  ExpectHolds(kHazard, [](SimChip& chip) {
    Rv32Asm a;
    a.Li(kS0, kData);
    const Rv32Asm::Label loop = a.Here();
    a.Addi(kA0, kA0, 1);
    a.Sw(kA0, kS0, 0);
    a.Jump(loop);
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    EXPECT_TRUE(chip.device().Advance(1001).ok());
    chip.WriteWord(kTile, hw::kSoftReset0, hw::kSoftResetAllHarts);
    const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
    const uint32_t stored = hart.pc == 4 + 4 ? hart.x[kA0] - 1 : hart.x[kA0];
    return chip.ReadWord(kTile, kData) == stored;
  });
}

// Random loads and stores of one hart, of all sizes, in a small window; with fences and AMOs.
Rv32Asm RandomAccesses(uint32_t seed) {
  Random random(seed);
  Rv32Asm a;
  a.Li(kS0, kData);
  a.Li(kS1, kSeen);
  a.Li(kS2, hw::StreamRegister(kStream, hw::kStreamBufferStart));
  constexpr uint32_t kRegisters[] = {kA0, kA1, kA2, kA3, kA4, kA5, kA6, kA7, kT0, kT1};
  const auto any = [&] { return kRegisters[random() % std::size(kRegisters)]; };
  for (const uint32_t reg : kRegisters) a.Li(reg, random());
  for (int i = 0; i < 600; ++i) {
    const auto offset = static_cast<int32_t>(random() % 96);
    switch (random() % 10) {
      case 0:
        a.Sw(any(), kS0, offset & ~3);
        break;
      case 1:
        a.Sh(any(), kS0, offset & ~1);
        break;
      case 2:
        a.Sb(any(), kS0, offset);
        break;
      case 3:
        a.Lw(any(), kS0, offset & ~3);
        break;
      case 4:
        a.Lhu(any(), kS0, offset & ~1);
        break;
      case 5:
        a.Lbu(any(), kS0, offset);
        break;
      case 6:
        a.Add(any(), any(), any());
        break;
      case 7:
        a.Addi(kT2, kS0, offset & ~3);
        a.AmoAdd(any(), kT2, any());
        break;
      case 8:
        if (random() % 4 == 0) a.Fence();
        break;
      default:
        if (random() % 2 == 0) {
          a.Sw(any(), kS2, 0);
        } else {
          a.Lw(any(), kS2, 0);
        }
        break;
    }
  }
  for (size_t i = 0; i < std::size(kRegisters); ++i) {
    a.Sw(kRegisters[i], kS1, static_cast<int32_t>(4 * i));
  }
  a.Halt();
  return a;
}

TEST(HazardStores, AreSeenInOrderByTheHartItself) {
  const auto run = [](SimChip& chip, uint32_t program) {
    chip.Load(kTile, 0, RandomAccesses(program));
    chip.Start(kTile);
    EXPECT_TRUE(RunToRest(chip));
    std::vector<uint32_t> words;
    for (uint32_t i = 0; i < 24; ++i) words.push_back(chip.ReadWord(kTile, kData + 4 * i));
    for (uint32_t i = 0; i < 10; ++i) words.push_back(chip.ReadWord(kTile, kSeen + 4 * i));
    return words;
  };
  for (uint32_t program = 1; program <= 8; ++program) {
    SimChip plain;
    const std::vector<uint32_t> expected = run(plain, program);
    for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
      SimChip chip = ChipWith("stores+l0cache+icache+speed", seed);
      EXPECT_EQ(run(chip, program), expected) << "program " << program << " seed " << seed;
    }
  }
}

// The store that sends the packet may arrive while the wait for the packet is being recognised as one.
TEST(HazardStores, ThatArriveDuringAWaitEndIt) {
  constexpr uint64_t kSeeds = 300;
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, kData, kTile, kSeen, 16));
  a.Li(kT6, kSeen);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT5, kT6, 0);
  a.Beq(kT5, kZero, loop);
  a.Sw(kT5, kT6, 0x40);
  a.Halt();
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimChip chip = ChipWith(kHazard, seed);
    chip.WriteWord(kTile, kData, 7);
    chip.Load(kTile, 0, a);
    chip.Start(kTile);
    ASSERT_TRUE(RunToRest(chip));
    ASSERT_EQ(chip.ReadWord(kTile, kSeen + 0x40), 7u) << "seed " << seed;
  }
}

// What is refused names the store, not what the hart was doing when it arrived.
TEST(HazardStores, ThatAreRefusedNameTheirInstruction) {
  Rv32Asm a;
  a.Li(kS0, hw::kDestClockGateControl + 4);
  const Rv32Asm::Label store = a.Here();
  a.Sw(kZero, kS0, 0);
  for (int i = 0; i < 300; ++i) a.Addi(kA0, kA0, 1);
  a.Halt();
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(kHazard, seed);
    EXPECT_FALSE(chip.Run(a).ok());
    ASSERT_TRUE(chip.chip().fault().has_value());
    EXPECT_EQ(chip.chip().fault()->pc, store);
    EXPECT_EQ(chip.chip().fault()->address, hw::kDestClockGateControl + 4);
  }
}

}  // namespace
}  // namespace ttfd::sim_hazard_stores_test
