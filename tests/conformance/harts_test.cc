// Resets, clocks and the registers of a tile.
#include "runtime/hw/stream.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::harts_test {
namespace {

class Harts : public DeviceTest {};

// A program that adds 1 to the word at `address` and halts.
Rv32Asm CountAt(uint32_t address) {
  Rv32Asm a;
  a.Li(kT0, address);
  a.Lw(kT1, kT0, 0);
  a.Addi(kT1, kT1, 1);
  a.Sw(kT1, kT0, 0);
  a.Halt();
  return a;
}

TEST_P(Harts, StartWhereTheirResetPcsSay) {
  Load(kTile, CountAt(kResults), 0);
  Load(kTile, CountAt(kResults + 4), 0x4000);
  Load(kTile, CountAt(kResults + 8), 0x4100);
  Load(kTile, CountAt(kResults + 12), 0x4200);
  Load(kTile, CountAt(kResults + 16), 0x4300);
  WriteWord(kTile, hw::kNcriscResetPc, 0x4000);
  WriteWord(kTile, hw::kNcriscResetPcOverride, 1);
  for (uint32_t i = 0; i < 3; ++i) WriteWord(kTile, hw::kTriscResetPc + 4 * i, 0x4100 + 0x100 * i);
  WriteWord(kTile, hw::kTriscResetPcOverride, 7);
  Start(kTile, 0);
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    const Status status = Await(kTile, kResults + 4 * hart, 1);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST_P(Harts, StartAtTheDefaultPcsWithoutOverride) {
  for (uint32_t i = 0; i < 3; ++i) {
    Load(kTile, CountAt(kResults + 4 * i), hw::kTriscDefaultPc[i]);
    WriteWord(kTile, kResults + 4 * i, 0);
  }
  Load(kTile, CountAt(kResults + 12), hw::kNcriscDefaultPc);
  WriteWord(kTile, kResults + 12, 0);
  Start(kTile, hw::kSoftResetBrisc);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(Await(kTile, kResults + 4 * i, 1).ok()) << i;
}

TEST_P(Harts, RunAgainAfterEveryReset) {
  Load(kTile, CountAt(kResults));
  WriteWord(kTile, kResults, 0);
  for (uint32_t round = 1; round <= 3; ++round) {
    Start(kTile);
    EXPECT_TRUE(Await(kTile, kResults, round).ok());
    Start(kTile, hw::kSoftResetAllHarts);
  }
}

TEST_P(Harts, FindTheirRegistersAndLocalRamZeroed) {
  if (!GetParam().zeroes_harts) GTEST_SKIP() << "the backend's soft reset sets the PC alone";
  Rv32Asm a;
  a.Li(kS0, hw::kLocalRamAddress);
  a.Lw(kT0, kS0, 64);
  a.Or(kT0, kT0, kS1);
  a.Li(kT1, kResults);
  a.Sw(kT0, kT1, 0);
  a.Li(kS1, 5);
  a.Sw(kS1, kS0, 64);
  WriteWord(kTile, kResults, 1);
  Run(a);
  EXPECT_EQ(ReadWord(kTile, kResults), 0u);
  WriteWord(kTile, kResults, 1);
  Run(a);
  EXPECT_EQ(ReadWord(kTile, kResults), 0u);
}

TEST_P(Harts, AreHeldByADeviceResetWhileMemoryStaysWhereItDoes) {
  Load(kTile, CountAt(kResults));
  WriteWord(kTile, kResults, 0);
  WriteWord(Bank(0), 0x1000, 0x1234);
  const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(kTile));
  Start(kTile);
  ASSERT_TRUE(Await(kTile, kResults, 1).ok());
  const uint32_t stream = hw::StreamRegister(9, hw::kStreamBufferSize);
  WriteWord(kTile, stream, 3);
  ASSERT_TRUE(device().Reset().ok());
  const uint32_t result = ttfd::ReadWord(*window, kResults).value();  // windows stay valid
  if (device().info().memory_survives_reset) {
    EXPECT_EQ(result, 1u);
    EXPECT_EQ(ReadWord(Bank(0), 0x1000), 0x1234u);
  }
  EXPECT_EQ(ReadWord(kTile, hw::kSoftReset0), hw::kSoftResetAllHarts);
  EXPECT_EQ(ReadWord(kTile, stream), GetParam().resets_registers ? 0u : 3u);
  ASSERT_TRUE(device().Advance(1000).ok());
  EXPECT_EQ(ReadWord(kTile, kResults), result);
}

TEST_P(Harts, CanBeHeldAndReleasedByAnotherTile) {
  Load(kOther, CountAt(kResults));
  WriteWord(kOther, kResults, 0);
  Rv32Asm a;
  EmitNoc(a,
          NocInline(kTile, kOther, hw::kSoftReset0, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  Run(a);
  EXPECT_TRUE(Await(kOther, kResults, 1).ok());
}

TEST_P(Harts, StopAloneWhenTheyFault) {
  if (!GetParam().continues_after_faults) GTEST_SKIP() << "the backend's chip is lost by a fault";
  constexpr uint32_t kNoInstruction = 0xFFFFFFFF;
  Rv32Asm faults;
  faults.Word(kNoInstruction);
  Load(kTile, faults);
  Load(kTile, CountAt(kResults), hw::kNcriscDefaultPc);
  WriteWord(kTile, kResults, 0);
  Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc);
  EXPECT_EQ(device().Advance(1000).ok(), !GetParam().reports_faults);
  EXPECT_EQ(device().fault().has_value(), GetParam().reports_faults);
  // The host, other tiles, other harts of the tile and a hart that was reset continue.
  Load(kOther, CountAt(kResults));
  WriteWord(kOther, kResults, 0);
  Start(kOther);
  EXPECT_TRUE(Await(kOther, kResults, 1).ok());
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetNcrisc));
  EXPECT_TRUE(Await(kTile, kResults, 1).ok());
  Load(kTile, CountAt(kResults));
  Start(kTile, hw::kSoftResetAllHarts);
  Start(kTile);
  EXPECT_TRUE(Await(kTile, kResults, 2).ok());
  EXPECT_EQ(device().fault().has_value(), GetParam().reports_faults);
  ASSERT_TRUE(device().Reset().ok());
  EXPECT_FALSE(device().fault().has_value());
  Start(kTile);
  EXPECT_TRUE(Await(kTile, kResults, 3).ok());
}

TEST_P(Harts, SeeTheWallClockMoveAndTheHighHalfLatched) {
  Rv32Asm a;
  a.Li(kS0, hw::kWallClockLow);
  a.Li(kS1, kResults);
  a.Lw(kT0, kS0, 0);
  a.Lw(kT1, kS0, 8);
  a.Sw(kT0, kS1, 0);
  a.Sw(kT1, kS1, 4);
  for (int i = 0; i < 20; ++i) a.Addi(kT0, kT0, 0);
  a.Lw(kT0, kS0, 0);
  a.Lw(kT1, kS0, 8);
  a.Sw(kT0, kS1, 8);
  a.Sw(kT1, kS1, 12);
  Run(a);
  const std::vector<uint32_t> words = ReadWords(kTile, kResults, 4);
  const auto at = [&](size_t i) { return uint64_t{words[i + 1]} << 32 | words[i]; };
  EXPECT_GE(at(2), at(0) + 20);
  EXPECT_LT(at(2), at(0) + 100000);
}

TEST_P(Harts, KnowTheirCoordinates) {
  const std::vector<hw::Coordinate> tiles = Tiles();
  for (const hw::Coordinate tile : {tiles.front(), tiles[37], tiles.back()}) {
    Rv32Asm a;
    a.Li(kS1, kResults);
    for (uint32_t niu = 0; niu < 2; ++niu) {
      a.Li(kS0, hw::kNiuAddress + niu * hw::kNiuStride);
      a.Lw(kT0, kS0, hw::kNocIdLogical);
      a.Sw(kT0, kS1, static_cast<int32_t>(8 * niu));
      a.Lw(kT0, kS0, hw::kNocNodeId);
      a.Sw(kT0, kS1, static_cast<int32_t>(8 * niu + 4));
    }
    Run(a, tile);
    const std::vector<uint32_t> words = ReadWords(tile, kResults, 4);
    EXPECT_EQ(words[0] & 0xFFF, Xy(tile));
    EXPECT_EQ(words[2] & 0xFFF, Xy(tile));
    EXPECT_EQ(words[1] >> 12 & 0x7F, hw::kGridColumns);
    EXPECT_EQ(words[1] >> 19 & 0x7F, hw::kGridRows);
    EXPECT_EQ(hw::NocX(words[1]) + hw::NocX(words[3]), hw::kGridColumns - 1);
    EXPECT_EQ(hw::NocY(words[1]) + hw::NocY(words[3]), hw::kGridRows - 1);
  }
}

TEST_P(Harts, OfOneTileShareItsL1) {
  // BRISC waits for a word of NCRISC, adds to it, NCRISC waits for that.
  Rv32Asm brisc;
  brisc.Li(kS0, kResults);
  const Rv32Asm::Label wait = brisc.Here();
  brisc.Fence();
  brisc.Lw(kT0, kS0, 0);
  brisc.Beq(kT0, kZero, wait);
  brisc.Addi(kT0, kT0, 1);
  brisc.Sw(kT0, kS0, 4);
  brisc.Halt();
  Rv32Asm ncrisc;
  ncrisc.Li(kS0, kResults);
  ncrisc.Li(kT1, 41);
  ncrisc.Sw(kT1, kS0, 0);
  const Rv32Asm::Label wait_back = ncrisc.Here();
  ncrisc.Fence();
  ncrisc.Lw(kT0, kS0, 4);
  ncrisc.Beq(kT0, kZero, wait_back);
  EmitDone(ncrisc);
  for (const uint32_t address : {kResults, kResults + 4, kDone}) WriteWord(kTile, address, 0);
  Load(kTile, brisc);
  Load(kTile, ncrisc, hw::kNcriscDefaultPc);
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetNcrisc));
  EXPECT_TRUE(Await(kTile, kDone, 1).ok());
  EXPECT_EQ(ReadWord(kTile, kResults + 4), 42u);
}

TEST_P(Harts, RegistersFirmwareWritesAtStartAreAccepted) {
  Rv32Asm a;
  const auto put = [&a](uint32_t address, uint32_t value) { a.StoreWord(address, value); };
  put(hw::kDestClockGateControl, 0);
  put(hw::kTdmaClockGateEnable, 0x3F);
  put(hw::kInstructionCacheInvalidate, hw::kInstructionCacheAll);
  a.Li(kS0, hw::kTensixConfig);
  a.Lw(kT0, kS0, 0);  // how firmware waits for the store before
  put(hw::kTriscResetPcOverride, 7);
  put(hw::kNcriscResetPcOverride, 1);
  for (uint32_t niu = 0; niu < 2; ++niu) {
    for (const uint32_t reg : {hw::kNocConfig0, hw::kNocRouterConfig0}) {
      a.Li(kS0, hw::kNiuAddress + niu * hw::kNiuStride + reg);
      a.Lw(kT0, kS0, 0);
      a.I(0x6013, kT0, kT0, 1);  // ori: clock gating on
      a.Sw(kT0, kS0, 0);
    }
  }
  Run(a);
}

TTFD_FOR_EVERY_BACKEND(Harts);

}  // namespace
}  // namespace ttfd::harts_test
