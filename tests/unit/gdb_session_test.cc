// What a debugger asks is answered, and changes what it says and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/debugged_chip.h"

namespace ttfd::gdb_session_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uint32_t kData = 0x10000;

class GdbSessionTest : public testing::Test {
 protected:
  // BRISC of the first tile runs `program` to where it rests, then a debugger comes.
  void StartAndConnect(const Rv32Asm& program) {
    const Status run = debugged_.chip().Run(program);
    ASSERT_TRUE(run.ok()) << run.ToString();
    debugged_.Connect();
  }
  std::string Ask(std::string_view packet) { return debugged_.Ask(packet); }
  // What "m" of one word answers.
  std::string Word(uint32_t address) { return Ask(fmt::format("m{:x},4", address)); }

  static Rv32Asm Resting() {
    Rv32Asm a;
    a.Li(kSp, hw::kLocalRamAddress + 0x100);
    a.Li(kA0, 0x1234);
    a.Sw(kA0, kSp, 8);
    a.Li(kS0, kData);
    a.Sw(kA0, kS0, 0);
    a.Halt();
    return a;
  }

  DebuggedChip debugged_;
};

TEST_F(GdbSessionTest, TellsWhatItCanAndLeavesTheRestEmpty) {
  StartAndConnect(Resting());
  const std::string supported = Ask("qSupported:multiprocess+;swbreak+;vContSupported+");
  EXPECT_THAT(supported, HasSubstr("PacketSize=4000"));
  EXPECT_THAT(supported, HasSubstr("qXfer:features:read+"));
  EXPECT_THAT(supported, HasSubstr("qXfer:threads:read+"));
  EXPECT_THAT(supported, testing::Not(HasSubstr("multiprocess")));
  EXPECT_EQ(Ask("vCont?"), "vCont;c;C;s;S;r");
  EXPECT_EQ(Ask("qAttached"), "1");
  for (const char* const unknown : {"vMustReplyEmpty", "qTStatus", "qOffsets", "!", "j", "qL1"}) {
    EXPECT_EQ(Ask(unknown), "") << unknown;
  }
}

TEST_F(GdbSessionTest, DescribesThirtyTwoRegistersAndThePc) {
  StartAndConnect(Resting());
  std::string xml;
  for (std::string part = "m"; part.front() == 'm';) {
    part = Ask(fmt::format("qXfer:features:read:target.xml:{:x},80", xml.size()));
    ASSERT_FALSE(part.empty());
    xml += part.substr(1);
  }
  EXPECT_THAT(xml, HasSubstr("<architecture>riscv:rv32</architecture>"));
  EXPECT_THAT(xml, HasSubstr("org.gnu.gdb.riscv.cpu"));
  size_t registers = 0;
  for (size_t at = 0; (at = xml.find("<reg ", at)) != std::string::npos; ++at) ++registers;
  EXPECT_EQ(registers, 33u);
  EXPECT_THAT(xml, EndsWith("</target>"));
  EXPECT_EQ(Ask("qXfer:features:read:other.xml:0,80"), "E00");
  EXPECT_EQ(Ask("qXfer:memory-map:read::0,80"), "");
}

TEST_F(GdbSessionTest, ListsHartsOutOfResetByTileAndName) {
  StartAndConnect(Resting());
  EXPECT_EQ(Ask("qfThreadInfo"), "m1");
  EXPECT_EQ(Ask("qsThreadInfo"), "l");
  const std::string xml = Ask("qXfer:threads:read::0,1000");
  EXPECT_THAT(xml, StartsWith("l<?xml"));
  EXPECT_THAT(xml, HasSubstr("<thread id=\"1\" name=\"(1,2) BRISC\">waits for nothing</thread>"));
  EXPECT_EQ(Ask("T1"), "OK");
  EXPECT_THAT(Ask("T2"), StartsWith("E"));  // held
  EXPECT_THAT(Ask("Tffffff"), StartsWith("E"));
  EXPECT_EQ(Ask("qC"), "QC1");
  // A hart that is released later is one more.
  debugged_.chip().Start({1, 3});
  EXPECT_EQ(Ask("qfThreadInfo"), "m1,6");
}

TEST_F(GdbSessionTest, WithEveryHartInResetThereIsStillOneToShow) {
  debugged_.chip().Reset();
  debugged_.Connect();
  EXPECT_EQ(Ask("qfThreadInfo"), "m1");
  EXPECT_THAT(Ask("?"), StartsWith("T02thread:1;"));
}

TEST_F(GdbSessionTest, ReadsAndWritesRegistersOfTheChosenHart) {
  StartAndConnect(Resting());
  const std::string all = Ask("g");
  ASSERT_EQ(all.size(), 33u * 8);
  EXPECT_EQ(all.substr(8 * kA0, 8), "34120000");
  EXPECT_EQ(debugged_.Register(kA0), 0x1234u);
  EXPECT_EQ(Ask("Pa=78563412"), "OK");
  EXPECT_EQ(debugged_.chip().hart(SimChip::kTile, 0).x[kA0], 0x12345678u);
  EXPECT_EQ(Ask("P0=78563412"), "OK");  // x0 stays what it is
  EXPECT_EQ(debugged_.Register(0), 0u);
  EXPECT_THAT(Ask("P20=02000000"), StartsWith("E"));  // a pc is a multiple of 4
  EXPECT_THAT(Ask("P20=00000080"), StartsWith("E"));  // and inside L1
  EXPECT_THAT(Ask("P21=00000000"), StartsWith("E"));
  EXPECT_THAT(Ask("pff"), StartsWith("E"));
  EXPECT_EQ(Ask("G" + all), "OK");
  EXPECT_EQ(Ask("g"), all);
  EXPECT_EQ(Ask("Hg2"), "OK");  // NCRISC, in reset, can be looked at
  EXPECT_EQ(debugged_.Register(kA0), 0u);
  EXPECT_THAT(Ask("Hgffff"), StartsWith("E"));
}

TEST_F(GdbSessionTest, MemoryIsThatOfTheChosenHart) {
  StartAndConnect(Resting());
  EXPECT_EQ(Word(kData), "34120000");
  EXPECT_EQ(Word(hw::kLocalRamAddress + 0x108), "34120000");
  EXPECT_EQ(Ask("Hg2"), "OK");
  EXPECT_EQ(Word(kData), "34120000");
  EXPECT_EQ(Word(hw::kLocalRamAddress + 0x108), "00000000");
  EXPECT_EQ(Ask("Hg6"), "OK");  // another tile
  EXPECT_EQ(Word(kData), "00000000");
  EXPECT_EQ(Ask(fmt::format("M{:x},4:aabbccdd", kData)), "OK");
  EXPECT_EQ(debugged_.chip().ReadWord({1, 3}, kData), 0xDDCCBBAAu);
  EXPECT_EQ(debugged_.chip().ReadWord({1, 2}, kData), 0x1234u);
  EXPECT_EQ(Ask(fmt::format("X{:x},3:{}", kData + 1, std::string("\0}#", 3))), "OK");
  EXPECT_EQ(Ask(fmt::format("m{:x},5", kData)),
            "aa007d23"
            "00");
  EXPECT_EQ(Ask(fmt::format("X{:x},0:", kData)), "OK");  // how GDB asks whether X is known
}

TEST_F(GdbSessionTest, ReadsAreCutAtTheEndOfMemoryAndRefusedWhereNothingIs) {
  StartAndConnect(Resting());
  EXPECT_EQ(Ask(fmt::format("m{:x},8", hw::kL1Bytes - 4)).size(), 8u);
  EXPECT_THAT(Ask(fmt::format("m{:x},4", hw::kL1Bytes)), StartsWith("E"));
  EXPECT_THAT(Ask("m80000000,4"), StartsWith("E"));
  EXPECT_THAT(Ask(fmt::format("M{:x},8:0011223344556677", hw::kL1Bytes - 4)), StartsWith("E"));
  EXPECT_THAT(Ask("m0"), StartsWith("E"));
  EXPECT_THAT(Ask("M0,4:00"), StartsWith("E"));
  EXPECT_THAT(Ask("m123456789,4"), StartsWith("E"));
}

TEST_F(GdbSessionTest, RegistersOfTheTileAreReadOnlyWhereThatChangesNothing) {
  StartAndConnect(Resting());
  EXPECT_EQ(Word(hw::kSoftReset0), debug::WordToHex(hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  // A byte of it, for a debugger that reads chars.
  EXPECT_EQ(Ask(fmt::format("m{:x},1", hw::kSoftReset0 + 1)), "70");
  const std::string latched = Word(hw::kWallClockHighLatched);
  EXPECT_THAT(Word(hw::kWallClockLow), StartsWith("E"));  // would latch the other half
  EXPECT_EQ(Word(hw::kWallClockHighLatched), latched);
  EXPECT_THAT(Word(hw::kNcriscResetPc), StartsWith("E"));  // write only
  EXPECT_THAT(Ask(fmt::format("M{:x},4:00000000", hw::kSoftReset0)), StartsWith("E"));
  EXPECT_EQ(debugged_.chip().hart(SimChip::kTile, 0).state, sim::HartState::kParked);
}

TEST_F(GdbSessionTest, AWrittenWordWakesWhoWaitsForIt) {
  Rv32Asm a;
  a.Li(kS0, kData);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, loop);
  a.Sw(kT0, kS0, 4);
  a.Halt();
  StartAndConnect(a);
  EXPECT_THAT(Ask("qXfer:threads:read::0,1000"), HasSubstr("waits for 0x10000"));
  EXPECT_EQ(Ask(fmt::format("M{:x},4:07000000", kData)), "OK");
  EXPECT_EQ(debugged_.Go("c"), "");
  EXPECT_EQ(debugged_.chip().ReadWord(SimChip::kTile, kData + 4), 7u);
}

TEST_F(GdbSessionTest, DetachedOrKilledTheChipRunsOn) {
  for (const char* const leave : {"D", "k", "vKill;1"}) {
    Rv32Asm a;
    a.Li(kS0, kData);
    const Rv32Asm::Label loop = a.Here();
    a.Lw(kT0, kS0, 0);
    a.Addi(kT0, kT0, 1);
    a.Sw(kT0, kS0, 0);
    a.Jump(loop);
    StartAndConnect(a);
    EXPECT_EQ(Ask("Z0,10,4"), "OK");
    debugged_.session().Handle(leave);
    EXPECT_TRUE(debugged_.session().ended());
    const uint32_t before = debugged_.chip().ReadWord(SimChip::kTile, kData);
    const auto progress = debugged_.Turn(1000);
    ASSERT_TRUE(progress.ok());
    EXPECT_FALSE(progress->halted);
    EXPECT_GT(debugged_.chip().ReadWord(SimChip::kTile, kData), before);
  }
}

TEST_F(GdbSessionTest, MonitorIsWhatTheDaemonMakesOfIt) {
  debugged_.chip().Reset();
  debugged_.Connect([](std::string_view words) { return "you said " + std::string(words); });
  const std::string reply = Ask("qRcmd,6b65726e656c73");
  EXPECT_EQ(debug::BytesFromHex(reply), "you said kernels");
  EXPECT_THAT(Ask("qRcmd,6b6"), StartsWith("E"));
}

TEST_F(GdbSessionTest, PointsHaveLimits) {
  StartAndConnect(Resting());
  EXPECT_THAT(Ask("Z0,2,4"), StartsWith("E"));
  EXPECT_THAT(Ask("Z0,10000000,4"), StartsWith("E"));
  EXPECT_EQ(Ask("Z7,0,4"), "");
  EXPECT_EQ(Ask("z0,40,4"), "OK");  // was never set
  for (uint32_t i = 0; i < debug::DebugTarget::kMaxBreakpoints; ++i) {
    ASSERT_EQ(Ask(fmt::format("Z0,{:x},4", 4 * i)), "OK");
  }
  EXPECT_THAT(Ask("Z0,8000,4"), StartsWith("E"));
  for (uint32_t i = 0; i < debug::Watchpoints::kMax; ++i) {
    ASSERT_EQ(Ask(fmt::format("Z2,{:x},4", 4 * i)), "OK");
  }
  EXPECT_THAT(Ask("Z2,8000,4"), StartsWith("E"));
  EXPECT_THAT(Ask("Z2,8000,100000"), StartsWith("E"));
}

}  // namespace
}  // namespace ttfd::gdb_session_test
