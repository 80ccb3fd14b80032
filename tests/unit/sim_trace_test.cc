// A trace says line by line what the chip did, only what was asked for, and never more than its limit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/trace.h"
#include "runtime/sim/trace_text.h"
#include "tests/support/noc_asm.h"

namespace ttfd::sim_trace_test {
namespace {

using sim::TraceInstruction;

constexpr hw::Coordinate kTile = {1, 2};
constexpr hw::Coordinate kOther = {2, 2};

// A device with a trace, and programs on its harts.
class SimTrace : public ::testing::Test {
 protected:
  void SetUp() override { path_ = ::testing::TempDir() + "ttfd-trace-" + std::to_string(getpid()); }
  void TearDown() override {
    device_.reset();
    std::filesystem::remove(path_);
  }

  void Open(const std::string& options) {
    const StatusOr<SimOptions> parsed = ParseSimOptions("sim:trace=" + path_ + options);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    StatusOr<std::unique_ptr<Device>> device = OpenSimDevice(*parsed);
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    device_ = std::move(*device);
  }
  void Write(hw::Coordinate tile, uint64_t address, ByteSpan from) {
    const auto window = device_->OpenWindow(UnicastTarget(tile));
    ASSERT_TRUE(window.ok());
    const Status status = (*window)->Write(address, from);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Lets BRISC of a tile execute the program.
  Status Run(const Rv32Asm& program, uint64_t clocks = 100000, hw::Coordinate tile = kTile) {
    Write(tile, 0, program.bytes());
    Write(tile, hw::kSoftReset0, BytesOf(hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
    return device_->Advance(clocks).status();
  }
  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  // How many lines contain the text.
  size_t Count(const std::string& text) const {
    const std::vector<std::string> lines = Lines();
    return static_cast<size_t>(std::count_if(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

  std::string path_;
  std::unique_ptr<Device> device_;
};

Rv32Asm SmallProgram() {
  Rv32Asm a;
  a.Li(kS0, 0x10000);
  a.Li(kT0, 0x12345678);
  a.Sw(kT0, kS0, 4);
  a.I(0x0003, kA0, kS0, 5);  // lb
  a.Sh(kT0, kS0, 10);
  a.AmoAdd(kA1, kS0, kT0);
  a.Bne(kA0, kA1, a.Here() + 8);
  a.Word(0);
  a.Jal(kRa, a.Here() + 4);
  a.Halt();
  return a;
}

TEST_F(SimTrace, SaysWhatEveryInstructionDid) {
  Open("");
  ASSERT_TRUE(Run(SmallProgram()).ok());
  const std::vector<std::string> expected = {
      "#    clock tile    who    pc       word      what it is and does",
      "# the chip was reset",
      "         0 (1,2)   BRISC  00000000           runs",
      "         0 (1,2)   BRISC  00000000 00010437  lui s0,0x10                  s0=00010000",
      "         1 (1,2)   BRISC  00000004 123452b7  lui t0,0x12345               t0=12345000",
      "         2 (1,2)   BRISC  00000008 67828293  addi t0,t0,1656              t0=12345678",
      "         3 (1,2)   BRISC  0000000c 00542223  sw t0,4(s0)                  st4 "
      "00010004=12345678",
      "         4 (1,2)   BRISC  00000010 00540503  lb a0,5(s0)                  a0=00000056 ld1 "
      "00010005=00000056",
      "         5 (1,2)   BRISC  00000014 00541523  sh t0,10(s0)                 st2 "
      "0001000a=00005678",
      "         6 (1,2)   BRISC  00000018 005425af  amoadd.w a1,t0,(s0)          a1=00000000 ld4 "
      "00010000=00000000 "
      "st4 00010000=12345678",
      "         7 (1,2)   BRISC  0000001c 00b51463  bne a0,a1,0x24",
      "         8 (1,2)   BRISC  00000024 004000ef  jal ra,0x28                  ra=00000028",
      "         9 (1,2)   BRISC  00000028 0ff0000f  fence iorw,iorw",
      "        10 (1,2)   BRISC  0000002c ffdff06f  jal zero,0x28",
      "        11 (1,2)   BRISC  00000028 0ff0000f  fence iorw,iorw",
      "        12 (1,2)   BRISC  0000002c ffdff06f  jal zero,0x28",
      "        13 (1,2)   BRISC  00000028 0ff0000f  fence iorw,iorw",
      "        14 (1,2)   BRISC  0000002c ffdff06f  jal zero,0x28",
      "        15 (1,2)   BRISC  00000028           parked",
  };
  EXPECT_EQ(Lines(), expected);
}

TEST_F(SimTrace, EndsWithTheFaultAndWhatLedToIt) {
  Open("");
  Rv32Asm a;
  a.Li(kS0, 0x10001);
  a.Lw(kA0, kS0, 0);
  EXPECT_FALSE(Run(a).ok());
  const std::vector<std::string> lines = Lines();
  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(
      lines[lines.size() - 3],
      "         1 (1,2)   BRISC  00000004 00140413  addi s0,s0,1                 s0=00010001");
  EXPECT_EQ(lines[lines.size() - 2], "         2 (1,2)   BRISC  00000008 00042503  lw a0,0(s0)");
  EXPECT_NE(lines.back().find("         2 (1,2)   BRISC  00000008           device fault: "),
            std::string::npos)
      << lines.back();
}

TEST_F(SimTrace, ShowsNocCommandsWithBothEnds) {
  Open(",trace_what=noc");
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, 0x10000, kOther, 0x20000, 64));
  EmitNoc(a, NocRead(kTile, kOther, 0x20000, 0x11000, 32));
  EmitNoc(a, NocIncrement(kTile, kOther, 0x20000, 5, 0x12000));
  EmitNoc(a, NocMulticast(kTile, 0x10000, {2, 2}, {3, 4}, 0x30000, 16));
  a.Halt();
  ASSERT_TRUE(Run(a).ok());
  EXPECT_EQ(Count("NOC0   write issued: (1,2) 0x10000 -> (2,2) 0x20000, 64 bytes, control 0x"), 1u);
  EXPECT_EQ(Count("NOC0   write delivered: (1,2) 0x10000 -> (2,2) 0x20000, 64 bytes"), 1u);
  EXPECT_EQ(Count("NOC0   read issued: (2,2) 0x20000 -> (1,2) 0x11000, 32 bytes"), 1u);
  EXPECT_EQ(Count("NOC0   read delivered: (2,2) 0x20000 -> (1,2) 0x11000, 32 bytes"), 1u);
  EXPECT_EQ(Count("NOC0   increment issued: (2,2) 0x20000 += 5, old value -> (1,2) 0x12000"), 1u);
  EXPECT_EQ(Count("NOC0   multicast issued: (1,2) 0x10000 -> (2,2)..(3,4) 0x30000, 16 bytes"), 1u);
  EXPECT_EQ(Count("BRISC"), 0u);
}

TEST_F(SimTrace, ShowsANocCommandBehindTheStoreThatIssuedIt) {
  Open("");
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, 0x10000, kOther, 0x20000, 64));
  a.Halt();
  ASSERT_TRUE(Run(a).ok());
  const std::vector<std::string> lines = Lines();
  const auto issued = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("write issued") != std::string::npos;
  });
  ASSERT_NE(issued, lines.end());
  EXPECT_NE((issued - 1)->find("st4 ffb20040=00000001"), std::string::npos) << *(issued - 1);
}

TEST_F(SimTrace, LeavesOutWhatNobodyAskedFor) {
  Rv32Asm program = SmallProgram();
  Open(",trace_what=memory");
  ASSERT_TRUE(Run(program).ok());
  EXPECT_EQ(Lines().size(), 2u + 4);  // sw, lb, sh, amoadd
  Open(",trace_what=instructions");
  ASSERT_TRUE(Run(program).ok());
  EXPECT_EQ(Count("sw t0,4(s0)"), 1u);
  EXPECT_EQ(Count("st4"), 0u);
  EXPECT_EQ(Count("parked"), 0u);
  Open(",trace_what=states");
  ASSERT_TRUE(Run(program).ok());
  EXPECT_EQ(Lines().size(), 2u + 2);  // runs, parked
  Open(",trace_tiles=2x2+3x4");
  ASSERT_TRUE(Run(program).ok());
  EXPECT_EQ(Lines().size(), 2u);
  ASSERT_TRUE(Run(program, 100000, kOther).ok());
  EXPECT_EQ(Count("(2,2)   BRISC  00000008 67828293"), 1u);
  EXPECT_EQ(Count("(1,2)"), 0u);
  Open(",trace_harts=ncrisc+trisc2");
  ASSERT_TRUE(Run(program).ok());
  EXPECT_EQ(Count("BRISC"), 0u);
}

TEST_F(SimTrace, CoversTheClocksItWasAskedFor) {
  Rv32Asm loop;
  const Rv32Asm::Label again = loop.Here();
  loop.Addi(kA0, kA0, 1);
  loop.Jump(again);
  Open(",trace_from=5000,trace_to=5010");
  ASSERT_TRUE(Run(loop, 20000).ok());
  EXPECT_EQ(Count("BRISC"), 10u);
  EXPECT_EQ(
      Lines()[1],
      "      5000 (1,2)   BRISC  00000000 00150513  addi a0,a0,1                 a0=000009c5");
  EXPECT_EQ(Count("      5009 (1,2)"), 1u);
}

TEST_F(SimTrace, KeepsItsLimitAndSaysSoInTheLastLine) {
  Rv32Asm loop;
  const Rv32Asm::Label again = loop.Here();
  loop.Addi(kA0, kA0, 1);
  loop.Jump(again);
  Open(",trace_limit=64K");
  ASSERT_TRUE(Run(loop, 20000).ok());
  ASSERT_TRUE(device_->Advance(20000).ok());
  device_.reset();
  EXPECT_LE(std::filesystem::file_size(path_), 65536u);
  EXPECT_GT(std::filesystem::file_size(path_), 65536u - 400);
  EXPECT_EQ(Lines().back(),
            "# trace_limit is reached: 65536 bytes; what came behind this line is not here");
}

TEST_F(SimTrace, KeepsTheLastEventsInMemoryUntilSomethingGoesWrong) {
  Rv32Asm a;
  a.Li(kT0, 5000);
  const Rv32Asm::Label again = a.Here();
  a.Addi(kT0, kT0, -1);
  a.Bne(kT0, kZero, again);
  a.Word(0);
  Open(",trace_last=5");
  Write(kTile, 0, a.bytes());
  Write(kTile, hw::kSoftReset0, BytesOf(hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  ASSERT_TRUE(device_->Advance(1000).ok());
  EXPECT_LE(Lines().size(), 1u);
  EXPECT_FALSE(device_->Advance(100000).ok());
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 2u + 5);
  EXPECT_EQ(lines[1].rfind("# the last 5 events before the fault, ", 0), 0u) << lines[1];
  EXPECT_NE(lines[2].find("bne t0,zero"), std::string::npos) << lines[2];
  EXPECT_NE(lines[4].find("bne t0,zero"), std::string::npos) << lines[4];
  EXPECT_NE(lines[6].find("device fault"), std::string::npos) << lines[6];
}

TEST_F(SimTrace, WritesTheLastEventsWhenAHungChipIsReset) {
  Rv32Asm a;
  a.Li(kT0, 77);
  a.Halt();
  Open(",trace_last=3");
  ASSERT_TRUE(Run(a).ok());
  EXPECT_EQ(Count("parked"), 0u);
  ASSERT_TRUE(device_->Reset().ok());
  EXPECT_EQ(Count("# the last 3 events before a reset, "), 1u);
  EXPECT_EQ(Count("parked"), 1u);
}

TEST_F(SimTrace, ChangesNothingOfWhatTheChipDoes) {
  constexpr uint32_t kCounter = 0x20000;
  constexpr uint32_t kBoth =
      hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc & ~hw::SoftResetBit(hw::kTrisc0);
  // Two harts race for a counter: who gets which value depends on how their turns are cut.
  Rv32Asm race;
  race.Li(kS0, kCounter);
  race.Li(kT0, 1);
  race.Li(kS1, 2000);
  const Rv32Asm::Label loop = race.Here();
  race.AmoAdd(kT1, kS0, kT0);
  race.Add(kT2, kT2, kT1);
  race.Slli(kT2, kT2, 1);
  race.Addi(kS1, kS1, -1);
  race.Bne(kS1, kZero, loop);
  race.Halt();
  const auto run = [&](const std::string& options) {
    sim::Chip* chip = nullptr;
    const SimOptions parsed = ParseSimOptions("sim" + options).value();
    const std::unique_ptr<Device> device = OpenSimDevice(parsed, &chip).value();
    device_.reset();
    const auto window = device->OpenWindow(UnicastTarget(kTile)).value();
    EXPECT_TRUE(window->Write(0, race.bytes()).ok());
    EXPECT_TRUE(window->Write(hw::kTriscDefaultPc[0], race.bytes()).ok());
    EXPECT_TRUE(window->Write(hw::kSoftReset0, BytesOf(kBoth)).ok());
    EXPECT_TRUE(device->Advance(4000000).ok());
    std::vector<uint64_t> state = {chip->clock()};
    for (const uint32_t index : {hw::kBrisc, hw::kTrisc0}) {
      const sim::Hart& hart = *chip->FindHart(kTile, index);
      state.insert(state.end(), hart.x, hart.x + 32);
      state.insert(state.end(), {hart.pc, hart.time, hart.retired});
    }
    return state;
  };
  for (const char* const options : {":board=p150", ":hazards=speed,seed=3", ":hazards=on"}) {
    const auto untraced = run(options);
    EXPECT_EQ(run(std::string(options) + ",trace=" + path_), untraced) << options;
    EXPECT_EQ(run(std::string(options) + ",trace_from=5300,trace_to=6100,trace=" + path_), untraced)
        << options;
  }
}

TEST_F(SimTrace, AFileThatCannotBeWrittenIsAnErrorAtTheStart) {
  const SimOptions options = ParseSimOptions("sim:trace=" + path_ + "/no/such/folder").value();
  const Status status = OpenSimDevice(options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(StatusMessage(status).find("trace: cannot write \"" + path_), std::string_view::npos)
      << status.ToString();
}

sim::NocView View(const char* kind, sim::NocEvent event) {
  return {event, kind, 1, kTile, 0x10000, {2, 2}, {3, 4}, 0x20000, 64, 5, 0x92, 123};
}

TEST(SimTraceText, ShowsNocCommandsWithBothEnds) {
  struct Row {
    const char* kind;
    sim::NocEvent event;
    const char* text;
  };
  constexpr Row kRows[] = {
      {"write", sim::NocEvent::kIssued,
       "write issued: (1,2) 0x10000 -> (2,2) 0x20000, 64 bytes, control 0x92"},
      {"write", sim::NocEvent::kDelivered,
       "write delivered: (1,2) 0x10000 -> (2,2) 0x20000, 64 bytes"},
      {"read", sim::NocEvent::kCounted, "read counted: (2,2) 0x20000 -> (1,2) 0x10000, 64 bytes"},
      {"multicast", sim::NocEvent::kDelivered,
       "multicast delivered: (1,2) 0x10000 -> (2,2)..(3,4) 0x20000, 64 bytes"},
      {"inline", sim::NocEvent::kDelivered, "inline delivered: 0x00000005 -> (2,2) 0x20000"},
      {"increment", sim::NocEvent::kDelivered,
       "increment delivered: (2,2) 0x20000 += 5, old value -> (1,2) 0x10000"},
  };
  for (const Row& row : kRows) {
    fmt::memory_buffer line;
    sim::TraceText().Append(View(row.kind, row.event), &line);
    EXPECT_EQ(fmt::to_string(line), std::string("       123 (1,2)   NOC1   ") + row.text + "\n");
  }
}

TEST(SimTracer, PutsWhatAnInstructionCausedBehindItAndLeavesOutPacketsOfOtherTiles) {
  const auto chip = sim::Chip::Create(sim::DefaultOptions(sim::Board::kP150)).value();
  std::vector<sim::TraceEvent> events;
  sim::TraceFilter filter;
  filter.tiles = {kTile};
  sim::Tracer tracer(filter, [&](const sim::TraceEvent& event) { events.push_back(event); });
  const sim::Hart& hart = *chip->FindHart(kTile, hw::kBrisc);
  tracer.BeforeInstruction(hart, 0x03EFA423);  // sw t5,40(t6)
  tracer.OnStore(hart, 0xFFB20028, 4, 1);
  tracer.OnNoc(View("write", sim::NocEvent::kIssued));
  sim::NocView other = View("write", sim::NocEvent::kIssued);
  other.source = kOther;
  tracer.OnNoc(other);
  EXPECT_TRUE(events.empty());  // the instruction has not ended
  tracer.Settle();
  ASSERT_EQ(events.size(), 2u);
  ASSERT_TRUE(std::holds_alternative<TraceInstruction>(events[0]));
  EXPECT_EQ(std::get<TraceInstruction>(events[0]).store.address, 0xFFB20028u);
  EXPECT_TRUE(std::holds_alternative<sim::NocView>(events[1]));
}

TEST(SimTraceOptions, ThatMakeNoSenseAreRefusedWithTheReason) {
  struct Row {
    const char* text;
    const char* reason;
  };
  constexpr Row kRows[] = {
      {"sim:trace_what=noc", "without trace=FILE"},
      {"sim:trace=", "has no value"},
      {"sim:trace=a,trace_what=everything", "is not instructions, memory, noc or states"},
      {"sim:trace=a,trace_tiles=1", "is not a number"},
      {"sim:trace=a,trace_tiles=1x99", "no Tensix tile is at (1,99)"},
      {"sim:trace=a,trace_harts=risc", "is not brisc, ncrisc, trisc0, trisc1 or trisc2"},
      {"sim:trace=a,trace_from=x", "is not a number"},
      {"sim:trace=a,trace_from=5,trace_to=5", "not before trace_to"},
      {"sim:trace=a,trace_limit=1K", "at least 4096 bytes"},
      {"sim:trace=a,trace_limit=99999999999999999G", "is too much"},
      {"sim:trace=a,trace_last=0", "is 1 to"},
      {"sim:trace=a,trace_colour=red", "is not"},
  };
  for (const Row& row : kRows) {
    const Status status = ParseSimOptions(row.text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.text;
    EXPECT_NE(StatusMessage(status).find(row.reason), std::string_view::npos) << status.ToString();
  }
}

}  // namespace
}  // namespace ttfd::sim_trace_test
