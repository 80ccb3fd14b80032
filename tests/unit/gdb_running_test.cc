// Breakpoints, watchpoints and steps stop the chip where they should and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/debugged_chip.h"
#include "tests/support/noc_asm.h"

namespace ttfd::gdb_running_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr hw::Coordinate kBelow = {1, 3};
constexpr uint32_t kData = 0x10000;
constexpr uint32_t kFlag = 0x10100;

// Waits for kFlag, then writes 3, 2, 1, 0 to kData and rests. The places are those of its instructions.
struct Countdown {
  Countdown() {
    a.Li(kS0, kData);
    a.Li(kS1, kFlag);
    wait = a.Here();
    a.Fence();
    a.Lw(kT1, kS1, 0);
    a.Beq(kT1, kZero, wait);
    a.Li(kT0, 4);
    loop = a.Here();
    a.Addi(kT0, kT0, -1);
    store = a.Here();
    a.Sw(kT0, kS0, 0);
    a.Lw(kT2, kS0, 0);
    branch = a.Here();
    a.Bne(kT0, kZero, loop);
    rest = a.Here();
    a.Halt();
  }
  Rv32Asm a;
  Rv32Asm::Label wait = 0, loop = 0, store = 0, branch = 0, rest = 0;
};

class GdbRunning : public testing::Test {
 protected:
  // BRISC of two tiles run the countdown to where they wait.
  void SetUp() override {
    debugged_.chip().Reset();
    for (const hw::Coordinate tile : {kTile, kBelow}) {
      debugged_.chip().WriteWord(tile, kFlag, 0);
      debugged_.chip().Load(tile, 0, program_.a);
      debugged_.chip().Start(tile);
    }
    ASSERT_TRUE(debugged_.chip().device().Advance(10000).ok());
    debugged_.Connect();
  }
  void Raise(hw::Coordinate tile) { debugged_.chip().WriteWord(tile, kFlag, 1); }
  std::string Ask(std::string_view packet) { return debugged_.Ask(packet); }
  std::string Go(std::string_view packet) { return debugged_.Go(packet); }
  std::string SetBreak(uint32_t at) { return Ask(fmt::format("Z0,{:x},4", at)); }
  uint32_t Data(hw::Coordinate tile) { return debugged_.chip().ReadWord(tile, kData); }
  // As GDB goes on from a breakpoint: takes it away, steps that hart alone, sets it again.
  std::string GoOver(uint32_t at, std::string_view thread) {
    EXPECT_EQ(Ask(fmt::format("z0,{:x},4", at)), "OK");
    EXPECT_THAT(Go(fmt::format("vCont;s:{}", thread)), StartsWith("T05"));
    EXPECT_EQ(SetBreak(at), "OK");
    return Go("vCont;c");
  }

  Countdown program_;
  DebuggedChip debugged_;
};

TEST_F(GdbRunning, ABreakpointIsMetOnEveryPassInFrontOfItsInstruction) {
  ASSERT_EQ(SetBreak(program_.store), "OK");
  Raise(kTile);
  std::string stop = Go("vCont;c");
  for (uint32_t left = 3;; --left) {
    ASSERT_THAT(stop, StartsWith("T05thread:1;"));
    EXPECT_THAT(stop, HasSubstr("swbreak:;"));
    EXPECT_THAT(stop, HasSubstr(fmt::format("20:{};", debug::WordToHex(program_.store))));
    EXPECT_EQ(debugged_.Pc(), program_.store);
    EXPECT_EQ(debugged_.Register(kT0), left);
    EXPECT_EQ(Data(kTile), left == 3 ? 0 : left + 1);
    stop = GoOver(program_.store, "1");
    if (left == 0) break;
  }
  EXPECT_EQ(stop, "");
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).pc, program_.rest);
}

TEST_F(GdbRunning, GoingOnFromABreakpointThatStaysPassesIt) {
  ASSERT_EQ(SetBreak(program_.store), "OK");
  Raise(kTile);
  ASSERT_THAT(Go("c"), StartsWith("T05"));
  ASSERT_THAT(Go("c"), StartsWith("T05"));
  EXPECT_EQ(debugged_.Register(kT0), 2u);
}

TEST_F(GdbRunning, HartsThatMeetABreakpointTogetherAreToldOneByOne) {
  ASSERT_EQ(SetBreak(program_.loop), "OK");
  Raise(kTile);
  Raise(kBelow);
  std::vector<std::string> who;
  for (int i = 0; i < 8; ++i) {
    const std::string stop = i == 0 ? Go("vCont;c") : GoOver(program_.loop, who.back());
    ASSERT_THAT(stop, StartsWith("T05thread:")) << i;
    who.emplace_back(1, stop[10]);
  }
  EXPECT_EQ(std::count(who.begin(), who.end(), "1"), 4);
  EXPECT_EQ(std::count(who.begin(), who.end(), "6"), 4);
  EXPECT_EQ(GoOver(program_.loop, who.back()), "");
}

TEST_F(GdbRunning, ABreakpointInTheLoopOfASleeperIsMetOnEveryPass) {
  ASSERT_EQ(debugged_.chip().hart(kTile, 0).state, sim::HartState::kParked);
  const uint32_t at = program_.wait + 4;
  ASSERT_EQ(SetBreak(at), "OK");
  std::string stop = Go("vCont;c");
  for (int pass = 0; pass < 5; ++pass) {
    ASSERT_THAT(stop, StartsWith("T05thread:")) << pass;
    EXPECT_EQ(debugged_.Pc(), at);
    stop = GoOver(at, std::string(1, stop[10]));
  }
}

TEST_F(GdbRunning, ASleeperCanBeSteppedThroughItsLoop) {
  EXPECT_EQ(debugged_.Pc(), program_.wait);
  for (int pass = 0; pass < 3; ++pass) {
    for (const uint32_t offset : {4u, 8u, 0u}) {
      ASSERT_THAT(Go("vCont;s:1"), StartsWith("T05thread:1;"));
      EXPECT_EQ(debugged_.Pc(), program_.wait + offset) << pass;
    }
  }
  EXPECT_EQ(Go("c"), "");  // and sleeps again
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).state, sim::HartState::kParked);
}

TEST_F(GdbRunning, WhenEverybodyStepsNobodyInResetIsBlamed) {
  debugged_.chip().WriteWord(kTile, hw::kSoftReset0, hw::kSoftResetAllHarts);  // threads 1 to 5
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Go("vCont;s"), StartsWith("T05thread:6;"));
}

TEST_F(GdbRunning, OneHartStepsWhileTheOthersAreHeld) {
  Raise(kTile);
  Raise(kBelow);
  const uint64_t others = debugged_.chip().hart(kBelow, 0).retired;
  const uint64_t own = debugged_.chip().hart(kTile, 0).retired;
  for (int i = 0; i < 10; ++i) ASSERT_THAT(Go("vCont;s:1"), StartsWith("T05thread:1;"));
  EXPECT_EQ(debugged_.chip().hart(kBelow, 0).retired, others);
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).retired, own + 10);
  // With the others running:
  ASSERT_THAT(Go("vCont;s:1;c"), StartsWith("T05thread:1;"));
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).retired, own + 11);
  EXPECT_EQ(Go("vCont;c:6"), "");
  EXPECT_EQ(debugged_.chip().hart(kBelow, 0).pc, program_.rest);
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).retired, own + 11);
  EXPECT_THAT(debugged_.Interrupt(), StartsWith("T02"));
  EXPECT_EQ(Go("c"), "");
  EXPECT_EQ(debugged_.chip().hart(kTile, 0).pc, program_.rest);
}

TEST_F(GdbRunning, AStepOverARangeEndsBehindItOrAtABreakpoint) {
  Raise(kTile);
  ASSERT_EQ(SetBreak(program_.loop), "OK");
  ASSERT_THAT(Go("vCont;c"), StartsWith("T05"));
  ASSERT_EQ(Ask(fmt::format("z0,{:x},4", program_.loop)), "OK");
  const std::string range = fmt::format("vCont;r{:x},{:x}:1", program_.loop, program_.rest);
  ASSERT_EQ(SetBreak(program_.branch), "OK");
  ASSERT_THAT(Go(range), HasSubstr("swbreak"));
  EXPECT_EQ(debugged_.Pc(), program_.branch);
  ASSERT_EQ(Ask(fmt::format("z0,{:x},4", program_.branch)), "OK");
  ASSERT_THAT(Go(range), StartsWith("T05thread:1;"));
  EXPECT_EQ(debugged_.Pc(), program_.rest);
  EXPECT_EQ(Data(kTile), 0u);
}

TEST_F(GdbRunning, AWatchedWriteStopsBehindTheInstructionThatDidIt) {
  ASSERT_EQ(Ask(fmt::format("Z2,{:x},4", kData)), "OK");
  Raise(kBelow);  // another tile's word at that address is another word
  EXPECT_EQ(Go("vCont;c"), "");
  EXPECT_EQ(debugged_.chip().hart(kBelow, 0).pc, program_.rest);
  Raise(kTile);
  for (const uint32_t value : {3u, 2u, 1u, 0u}) {
    std::string stop;
    for (int i = 0; i < 20 && stop.empty(); ++i) {
      ASSERT_TRUE(debugged_.Turn().ok());
      stop = Ask("?");
      if (debugged_.target().running()) stop.clear();
    }
    ASSERT_THAT(stop, StartsWith("T05thread:1;")) << value;
    EXPECT_THAT(stop, HasSubstr(fmt::format("watch:{:x};", kData)));
    EXPECT_EQ(Data(kTile), value);
    EXPECT_EQ(debugged_.Pc(), program_.store + 4);
    debugged_.session().Handle("vCont;c");
  }
}

TEST_F(GdbRunning, ReadAndAccessWatchpointsTellWhatTheyAre) {
  Raise(kTile);
  ASSERT_EQ(Ask(fmt::format("Z3,{:x},1", kData + 2)), "OK");  // inside the word
  EXPECT_THAT(Go("vCont;c"), HasSubstr(fmt::format("rwatch:{:x};", kData + 2)));
  EXPECT_EQ(debugged_.Pc(), program_.branch);
  ASSERT_EQ(Ask(fmt::format("z3,{:x},1", kData + 2)), "OK");
  ASSERT_EQ(Ask(fmt::format("Z4,{:x},4", kData)), "OK");
  EXPECT_THAT(Go("vCont;c"), HasSubstr(fmt::format("awatch:{:x};", kData)));
  EXPECT_EQ(debugged_.Pc(), program_.store + 4);
  EXPECT_THAT(Go("vCont;c"), HasSubstr("awatch"));
  EXPECT_EQ(debugged_.Pc(), program_.branch);
}

// GDB sets its watchpoints anew whenever it goes on, and may have chosen another hart by then.
TEST_F(GdbRunning, AWatchpointStaysWithTheTileItWasSetFor) {
  const std::string watch = fmt::format("2,{:x},4", kData);
  ASSERT_EQ(Ask("Z" + watch), "OK");
  ASSERT_THAT(Go("vCont;s:6"), StartsWith("T05thread:6;"));
  ASSERT_EQ(Ask("z" + watch), "OK");
  ASSERT_EQ(Ask("Hg6"), "OK");
  ASSERT_EQ(Ask("Z" + watch), "OK");
  Raise(kBelow);
  EXPECT_EQ(Go("vCont;c"), "");
  Raise(kTile);
  ASSERT_TRUE(debugged_.Turn().ok());
  EXPECT_THAT(Ask("?"), HasSubstr("thread:1;"));
}

TEST_F(GdbRunning, InterruptedTheChipStandsStill) {
  Rv32Asm busy;
  const Rv32Asm::Label loop = busy.Here();
  busy.Addi(kT0, kT0, 1);
  busy.Jump(loop);
  debugged_.session().Handle("D");
  ASSERT_TRUE(debugged_.chip().Run(busy, 1000).ok());
  debugged_.Connect();
  EXPECT_THAT(Ask("?"), StartsWith("T02thread:1;"));
  EXPECT_EQ(Go("c"), "");
  EXPECT_THAT(debugged_.Interrupt(), StartsWith("T02thread:1;"));
  const uint64_t retired = debugged_.chip().chip().retired_instructions();
  const auto progress = debugged_.Turn();
  ASSERT_TRUE(progress.ok());
  EXPECT_TRUE(progress->halted);
  EXPECT_FALSE(progress->quiescent);
  EXPECT_EQ(debugged_.chip().chip().retired_instructions(), retired);
  EXPECT_EQ(debugged_.Interrupt(), "");  // it stands still already
}

TEST_F(GdbRunning, AFaultIsShownOnItsHartAndThenGoesItsWay) {
  struct Row {
    const char* signal;
    uint32_t word;
  };
  constexpr Row kRows[] = {
      {"T04", 0xFFFFFFFF},  // no such instruction
      {"T0b", 0x80000537},  // lui a0, 0x80000: see below
      {"T0a", 0x00100513},  // li a0, 1
  };
  for (const Row& row : kRows) {
    if (!debugged_.session().ended()) debugged_.session().Handle("D");
    Rv32Asm a;
    a.Word(row.word);
    a.Lw(kA1, kA0, 0);
    debugged_.chip().Reset();
    debugged_.chip().Load(kTile, 0, a);
    debugged_.Connect();
    debugged_.chip().Start(kTile);
    ASSERT_THAT(Go("c"), StartsWith(std::string(row.signal) + "thread:1;"));
    // The daemon hears nothing yet, and everything can be looked at.
    const auto held = debugged_.Turn();
    ASSERT_TRUE(held.ok()) << held.status().ToString();
    EXPECT_TRUE(held->halted);
    EXPECT_EQ(Ask("m0,4"), debug::WordToHex(row.word));
    EXPECT_EQ(debugged_.chip().ReadWord(kTile, 0), row.word);
    // It does now.
    debugged_.session().Handle("c");
    const auto fault = debugged_.Turn();
    EXPECT_EQ(fault.status().code(), StatusCode::kFailedPrecondition);
    // And the next one stops for the debugger again.
    debugged_.chip().Reset();
    debugged_.chip().Load(kTile, 0, a);
    debugged_.chip().Start(kTile);
    const auto again = debugged_.Turn();
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_TRUE(again->halted);
  }
}

TEST_F(GdbRunning, AHartThatGoesIntoResetEndsItsStep) {
  debugged_.chip().WriteWord(kTile, hw::kSoftReset0, hw::kSoftResetAllHarts);
  EXPECT_THAT(Go("vCont;s:1"), StartsWith("T05thread:1;"));
}

TEST_F(GdbRunning, WithoutPointsTheChipRunsAsWithoutADebugger) {
  SimChip alone;
  alone.Load(kTile, 0, program_.a);
  alone.WriteWord(kTile, kFlag, 1);
  alone.Start(kTile);
  ASSERT_TRUE(alone.device().Advance(10000).ok());
  DebuggedChip other;
  other.chip().Load(kTile, 0, program_.a);
  other.chip().WriteWord(kTile, kFlag, 1);
  other.chip().Start(kTile);
  other.Connect();
  ASSERT_EQ(other.Ask("Z0,100,4"), "OK");  // careful, and never met
  EXPECT_EQ(other.Go("c"), "");
  EXPECT_EQ(other.chip().hart(kTile, 0).pc, alone.hart(kTile, 0).pc);
  EXPECT_EQ(
      std::memcmp(other.chip().hart(kTile, 0).x, alone.hart(kTile, 0).x, sizeof(sim::Hart::x)), 0);
}

TEST_F(GdbRunning, DataThatAnotherTileSendsIsWatchedToo) {
  debugged_.session().Handle("D");
  debugged_.chip().Reset();
  Rv32Asm sender;
  EmitNoc(sender, NocWrite(kTile, kData, kBelow, kData + 0x40, 64));
  sender.Halt();
  Rv32Asm receiver;
  receiver.Halt();
  debugged_.chip().Load(kTile, 0, sender);
  debugged_.chip().Load(kBelow, 0, receiver);
  debugged_.chip().Start(kBelow);
  ASSERT_TRUE(debugged_.chip().device().Advance(1000).ok());
  debugged_.Connect();
  ASSERT_EQ(Ask("Hg6"), "OK");
  ASSERT_EQ(Ask(fmt::format("Z2,{:x},4", kData + 0x60)), "OK");
  debugged_.chip().Start(kTile);
  const std::string stop = Go("vCont;c");
  EXPECT_THAT(stop, StartsWith("T05thread:6;"));
  EXPECT_THAT(stop, HasSubstr(fmt::format("watch:{:x};", kData + 0x60)));
}

}  // namespace
}  // namespace ttfd::gdb_running_test
