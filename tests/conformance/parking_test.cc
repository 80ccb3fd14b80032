// Polling harts sleep until what they read is written; idle costs nothing; equal calls give equal
// runs. Of interest where the backend can tell that nothing can happen any more.
#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::parking_test {
namespace {

class Parking : public DeviceTest {
 protected:
  static constexpr uint32_t kFlag = 0x9000;
  static constexpr uint32_t kCount = 0x9800;
  static constexpr uint32_t kUpdate = hw::StreamRegister(20, hw::kStreamSpaceAvailableUpdate);
  static constexpr uint64_t kForEver = uint64_t{1} << 60;

  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device().info().reports_quiescence) {
      GTEST_SKIP() << "the backend does not report quiescence";
    }
  }

  // Polls the word at `address` until it differs from the last value, counts, polls again.
  static Rv32Asm Watch(uint32_t address, bool fence = true) {
    Rv32Asm a;
    a.Li(kS0, address);
    a.Li(kS1, kCount);
    a.Lw(kT1, kS0, 0);
    const Rv32Asm::Label loop = a.Here();
    if (fence) a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Beq(kT0, kT1, loop);
    a.Addi(kT1, kT0, 0);
    a.Lw(kT2, kS1, 0);
    a.Addi(kT2, kT2, 1);
    a.Sw(kT2, kS1, 0);
    a.Jump(loop);
    return a;
  }

  void StartWatch(const Rv32Asm& program) {
    WriteWord(kTile, kFlag, 0);
    WriteWord(kTile, kCount, 0);
    Load(kTile, program);
    Start(kTile);
    ExpectQuiescent();
  }

  AdvanceResult Advance(uint64_t clocks = 100000) {
    const StatusOr<AdvanceResult> result = device().Advance(clocks);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.value_or(AdvanceResult{});
  }
  // Everything comes to rest, soon.
  void ExpectQuiescent() {
    const AdvanceResult result = Advance();
    EXPECT_TRUE(result.quiescent);
    EXPECT_LT(result.clocks, 2000u);
    if (result.quiescent) {
      EXPECT_EQ(Advance(kForEver).clocks, 0u);
    }
  }
  void ExpectBusy() {
    const AdvanceResult result = Advance(10000);
    EXPECT_FALSE(result.quiescent);
    EXPECT_EQ(result.clocks, 10000u);
  }
  // Runs a program on kOther, where it ends in a halt.
  void RunElsewhere(Rv32Asm a) {
    a.Halt();
    Load(kOther, a);
    Start(kOther, hw::kSoftResetAllHarts);
    Start(kOther);
    ExpectQuiescent();
  }
  uint32_t count() { return ReadWord(kTile, kCount); }
};

TEST_P(Parking, AChipInResetIsQuiescentAtOnce) {
  const AdvanceResult result = Advance(kForEver);
  EXPECT_EQ(result.clocks, 0u);
  EXPECT_TRUE(result.quiescent);
}

TEST_P(Parking, WritesOfTheHostWake) {
  StartWatch(Watch(kFlag));
  for (uint32_t i = 1; i <= 5; ++i) {
    WriteWord(kTile, kFlag, i);
    ExpectQuiescent();
    EXPECT_EQ(count(), i);
  }
  const uint8_t byte = 99;
  Write(kTile, kFlag + 2, BytesOf(byte));
  ExpectQuiescent();
  EXPECT_EQ(count(), 6u);
  std::vector<std::byte> block(4096, std::byte{7});
  Write(kTile, kFlag - 2048, block);
  ExpectQuiescent();
  EXPECT_EQ(ReadWord(kTile, kCount), 7u);
}

TEST_P(Parking, MulticastOfTheHostWakes) {
  StartWatch(Watch(kFlag));
  const auto window = OpenWindow({{1, 2}, {3, 3}, true, WindowOrdering::kStrict});
  ASSERT_TRUE(ttfd::WriteWord(*window, kFlag, 8).ok());
  ExpectQuiescent();
  EXPECT_EQ(count(), 1u);
}

TEST_P(Parking, NocWritesIncrementsAndMulticastsWake) {
  StartWatch(Watch(kFlag));
  WriteWord(kOther, 0xA000, 5);
  Rv32Asm write;
  EmitNoc(write, NocWrite(kOther, 0xA000, kTile, kFlag, 4));
  RunElsewhere(write);
  EXPECT_EQ(count(), 1u);
  Rv32Asm increment;
  EmitNoc(increment, NocIncrement(kOther, kTile, kFlag, 1, 0xB000));
  RunElsewhere(increment);
  EXPECT_EQ(count(), 2u);
  WriteWord(kOther, 0xA000, 50);
  Rv32Asm cast;
  EmitNoc(cast, NocMulticast(kOther, 0xA000, {1, 2}, {2, 3}, kFlag, 4));
  RunElsewhere(cast);
  EXPECT_EQ(count(), 3u);
}

TEST_P(Parking, ItsOwnReadsWakeAnotherHartOfTheTile) {
  // NCRISC reads a DRAM word into the polled L1 word; then stores and adds to it itself.
  StartWatch(Watch(kFlag));
  WriteWord(Bank(0), 0, 1234);
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, Bank(0), 0, kFlag, 4));
  a.Halt();
  Load(kTile, a, hw::kNcriscDefaultPc);
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetNcrisc));
  ExpectQuiescent();
  EXPECT_EQ(count(), 1u);
  Rv32Asm b;
  b.StoreWord(kFlag, 77);
  b.Halt();
  Load(kTile, b, hw::kTriscDefaultPc[0]);
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetTrisc0));
  ExpectQuiescent();
  EXPECT_EQ(count(), 2u);
  Rv32Asm c;
  c.Li(kS0, kFlag);
  c.Li(kT0, 3);
  c.AmoAdd(kZero, kS0, kT0);
  c.Halt();
  Load(kTile, c, hw::kTriscDefaultPc[1]);
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetTrisc1));
  ExpectQuiescent();
  EXPECT_EQ(count(), 3u);
}

TEST_P(Parking, StreamCountersWakeWithoutAFence) {
  StartWatch(Watch(hw::StreamRegister(20, hw::kStreamSpaceAvailable), false));
  WriteWord(kTile, kUpdate, 1 << hw::kStreamUpdateShift);
  ExpectQuiescent();
  EXPECT_EQ(count(), 1u);
  Rv32Asm a;
  EmitNoc(a, NocInline(kOther, kTile, kUpdate, 1 << hw::kStreamUpdateShift));
  RunElsewhere(a);
  EXPECT_EQ(count(), 2u);
  WriteWord(kTile, hw::StreamRegister(20, hw::kStreamBufferSize), 100);
  ExpectQuiescent();
  EXPECT_EQ(count(), 3u);
  WriteWord(kTile, hw::StreamRegister(21, hw::kStreamBufferSize), 100);  // another stream
  ExpectQuiescent();
  EXPECT_EQ(count(), 3u);
}

TEST_P(Parking, NiuCountersWake) {
  StartWatch(Watch(hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocReadResponses, false));
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, kOther, 0, 0xC000, 64));
  a.Halt();
  Load(kTile, a, hw::kNcriscDefaultPc);
  Start(kTile, hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetNcrisc));
  ExpectQuiescent();
  EXPECT_EQ(count(), 1u);
}

TEST_P(Parking, OtherWordsOfTheLineChangeNothing) {
  StartWatch(Watch(kFlag));
  for (uint32_t i = 1; i < 16; ++i) WriteWord(kTile, kFlag + 4 * i, i);
  ExpectQuiescent();
  EXPECT_EQ(count(), 0u);
  WriteWord(kTile, kFlag, 1);
  ExpectQuiescent();
  EXPECT_EQ(count(), 1u);
}

TEST_P(Parking, AnAmoIsAPollPointToo) {
  Rv32Asm a;
  a.Li(kS0, kFlag);
  const Rv32Asm::Label loop = a.Here();
  a.R(0x4000202F, kT0, kS0, kZero);  // amoor with zero
  a.Beq(kT0, kZero, loop);
  EmitDone(a);
  StartWatch(a);
  WriteWord(kTile, kFlag, 1);
  ExpectQuiescent();
  EXPECT_EQ(ReadWord(kTile, kDone), 1u);
}

TEST_P(Parking, LoopsWithSeveralPollPointsAndCallsPark) {
  Rv32Asm a;
  a.Li(kS0, kFlag);
  a.Li(kS1, hw::StreamRegister(20, hw::kStreamSpaceAvailable));
  a.Li(kSp, hw::kLocalRamAddress + 0x1000);
  const Rv32Asm::Label enter = a.Here();
  a.Jump(enter);
  const Rv32Asm::Label poll = a.Here();  // spills, polls one word, returns it in a0
  a.Addi(kSp, kSp, -16);
  a.Sw(kRa, kSp, 12);
  a.Fence();
  a.Lw(kA0, kA0, 0);
  a.Lw(kRa, kSp, 12);
  a.Addi(kSp, kSp, 16);
  a.Jalr(kZero, kRa, 0);
  a.BindJump(enter, a.Here());
  const Rv32Asm::Label loop = a.Here();
  std::vector<Rv32Asm::Label> out;
  for (const int32_t offset : {0, 64, 128}) {
    a.Addi(kA0, kS0, offset);
    a.Jal(kRa, poll);
    out.push_back(a.Here());
    a.Bne(kA0, kZero, loop);
  }
  a.Lw(kA0, kS1, 0);
  a.Beq(kA0, kZero, loop);
  for (const Rv32Asm::Label branch : out) a.BindBranch(branch, a.Here());
  EmitDone(a);
  for (uint32_t which = 0; which < 4; ++which) {
    ASSERT_TRUE(device().Reset().ok());
    for (const uint32_t offset : {0, 64, 128}) WriteWord(kTile, kFlag + offset, 0);
    WriteWord(kTile, kDone, 0);
    StartWatch(a);
    if (which < 3) {
      WriteWord(kTile, kFlag + 64 * which, 1);
    } else {
      WriteWord(kTile, kUpdate, 1 << hw::kStreamUpdateShift);
    }
    ExpectQuiescent();
    EXPECT_EQ(ReadWord(kTile, kDone), 1u) << which;
  }
}

TEST_P(Parking, ALoopThatCountsRunsOn) {
  Rv32Asm a;
  a.Li(kS0, kFlag);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Addi(kT1, kT1, 1);
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, loop);
  EmitDone(a);
  Load(kTile, a);
  WriteWord(kTile, kFlag, 0);
  Start(kTile);
  ExpectBusy();
  WriteWord(kTile, kFlag, 1);
  ExpectQuiescent();
}

TEST_P(Parking, ALoopThatCountsInMemoryRunsOnUntilItsEnd) {
  for (const uint32_t counter : {kCount, hw::kLocalRamAddress}) {
    Rv32Asm a;
    a.Li(kS0, counter);
    a.Li(kS1, 5000);
    a.Sw(kZero, kS0, 0);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Addi(kT0, kT0, 1);
    a.Sw(kT0, kS0, 0);
    a.Sub(kT0, kT0, kS1);  // the registers are the same in every trip but the last
    a.Sltu(kT1, kZero, kT0);
    a.Li(kT0, 0);
    a.Bne(kT1, kZero, loop);
    EmitDone(a);
    ASSERT_TRUE(device().Reset().ok());
    WriteWord(kTile, kDone, 0);
    Load(kTile, a);
    Start(kTile);
    EXPECT_TRUE(Advance(10 * 5000).quiescent);
    EXPECT_EQ(ReadWord(kTile, kDone), 1u);
  }
}

TEST_P(Parking, ALoopThatLooksAtTheClockRunsOn) {
  Rv32Asm a;
  a.Li(kS0, hw::kWallClockLow);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Li(kT0, 0);
  a.Jump(loop);
  Load(kTile, a);
  Start(kTile);
  ExpectBusy();
}

TEST_P(Parking, ALoopThatSendsRunsOn) {
  Rv32Asm a;
  EmitNoc(a, NocInline(kTile, kOther, kUpdate, 1 << hw::kStreamUpdateShift));
  a.Li(kT5, 1);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Sw(kT5, kT6, hw::kNocCommand);
  a.Jump(loop);
  Load(kTile, a);
  Start(kTile);
  ExpectBusy();
  EXPECT_GT(ReadWord(kOther, hw::StreamRegister(20, hw::kStreamSpaceAvailable)), 1000u);
}

TEST_P(Parking, ALoopWhoseCodeIsReplacedGoesOnWithTheNewCode) {
  StartWatch(Watch(kFlag));
  Rv32Asm a;
  EmitDone(a);
  Load(kTile, a, 0x4000);
  ExpectQuiescent();
  WriteWord(kTile, kDone, 0);
  const uint32_t pc = ReadWord(kTile, hw::kPcSnapshot);  // the fence
  Rv32Asm jump;
  jump.Jump(0x4000 - pc);
  Load(kTile, jump, pc);
  ExpectQuiescent();
  EXPECT_EQ(ReadWord(kTile, kDone), 1u);
}

TEST_P(Parking, AHeldHartIsNotWoken) {
  StartWatch(Watch(kFlag));
  Start(kTile, hw::kSoftResetAllHarts);
  WriteWord(kTile, kFlag, 1);
  EXPECT_EQ(Advance(kForEver).clocks, 0u);
  EXPECT_EQ(count(), 0u);
}

TEST_P(Parking, HandsWorkBackAndForthWithinOneAdvance) {
  // Two tiles send a number to each other, adding 1 each time, until it reaches 1000.
  const auto player = [](hw::Coordinate self, hw::Coordinate other, bool first) {
    Rv32Asm a;
    a.Li(kS0, kFlag);
    a.Li(kS1, 1000);
    a.Li(kT1, 0);
    EmitNoc(a, NocWrite(self, kFlag + 64, self, kFlag + 128, 4));  // sets the registers up
    a.Li(kT4, kFlag);
    a.Sw(kT4, kT6, hw::kNocReturnLow);
    a.Li(kT4, Xy(other));
    a.Sw(kT4, kT6, hw::kNocReturnHigh);
    const Rv32Asm::Label skip = a.Here();
    if (first) a.Jump(skip);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Beq(kT0, kT1, loop);
    if (first) a.BindJump(skip, a.Here());
    a.Addi(kT1, kT0, 0);
    const Rv32Asm::Label stop = a.Here();
    a.Beq(kT0, kS1, stop);
    a.Addi(kT0, kT0, 1);
    a.Sw(kT0, kS0, 64);
    a.Sw(kT5, kT6, hw::kNocCommand);
    a.Jump(loop);
    a.BindBranch(stop, a.Here());
    a.Halt();
    return a;
  };
  for (const hw::Coordinate tile : {kTile, kOther}) WriteWord(tile, kFlag, 0);
  Load(kTile, player(kTile, kOther, true));
  Load(kOther, player(kOther, kTile, false));
  Start(kOther);
  Start(kTile);
  const AdvanceResult result = Advance(1000000);
  EXPECT_TRUE(result.quiescent);
  EXPECT_LT(result.clocks, 100000u);
  EXPECT_EQ(std::max(ReadWord(kTile, kFlag), ReadWord(kOther, kFlag)), 1000u);
}

TEST_P(Parking, ManyTilesAreWokenByOneMulticast) {
  const std::vector<hw::Coordinate> tiles = Tiles();
  for (const hw::Coordinate tile : tiles) {
    WriteWord(tile, kFlag, 0);
    WriteWord(tile, kCount, 0);
    Load(tile, Watch(kFlag));
    Start(tile);
  }
  EXPECT_TRUE(Advance().quiescent);
  const WindowTarget all = {tiles.front(), tiles.back(), true, WindowOrdering::kStrict};
  ASSERT_TRUE(ttfd::WriteWord(*OpenWindow(all), kFlag, 1).ok());
  EXPECT_TRUE(Advance().quiescent);
  for (const hw::Coordinate tile : tiles) EXPECT_EQ(ReadWord(tile, kCount), 1u);
}

TEST_P(Parking, EqualCallsGiveEqualRuns) {
  // 20 tiles add to one counter of one tile and sample the clock; any difference in order shows.
  const auto run = [this](Device& device) {
    std::vector<uint32_t> seen;
    const auto window = [&](hw::Coordinate tile) {
      return std::move(device.OpenWindow(UnicastTarget(tile))).value();
    };
    for (uint32_t i = 0; i < 20; ++i) {
      const hw::Coordinate tile = Tiles()[3 * i];
      Rv32Asm a;
      for (uint32_t n = 0; n < 5 + i; ++n) {
        EmitNoc(a, NocIncrement(tile, {1, 11}, 0x10000, 1, 0x20000 + 4 * n));
      }
      a.Li(kS0, hw::kWallClockLow);
      a.Lw(kT0, kS0, 0);
      a.Li(kS0, 0x20100);
      a.Sw(kT0, kS0, 0);
      a.Halt();
      EXPECT_TRUE(window(tile)->Write(0, a.bytes()).ok());
      EXPECT_TRUE(ttfd::WriteWord(*window(tile), hw::kSoftReset0, 0x47000).ok());
    }
    for (int slice = 0; slice < 40; ++slice) {
      seen.push_back(static_cast<uint32_t>(device.Advance(37)->clocks));
    }
    EXPECT_TRUE(device.Advance(100000)->quiescent);
    for (uint32_t i = 0; i < 20; ++i) {
      for (uint32_t n = 0; n < 5 + i; ++n) {
        seen.push_back(ttfd::ReadWord(*window(Tiles()[3 * i]), 0x20000 + 4 * n).value());
      }
      seen.push_back(ttfd::ReadWord(*window(Tiles()[3 * i]), 0x20100).value());
    }
    return seen;
  };
  StatusOr<std::unique_ptr<Device>> other = GetParam().open();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(run(device()), run(**other));
}

TTFD_FOR_EVERY_BACKEND(Parking);

}  // namespace
}  // namespace ttfd::parking_test
