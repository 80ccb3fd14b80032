// libttfd_sim.so as a program sees it that expects the official simulator: its symbols, its address map,
// its way of refusing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>

#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "tests/peer/driver_process.h"
#include "tests/support/noc_asm.h"

namespace ttfd {
namespace {

constexpr hw::Coordinate kTile = {1, 2};
constexpr uint64_t kRegisters = hw::kSoftReset0 & ~(hw::kTlbWindow2MBytes - 1);

std::string R(uint64_t paddr, uint64_t size) { return fmt::format("r {:x} {:x}", paddr, size); }
std::string W(uint64_t paddr, uint64_t size, uint64_t value) {
  return fmt::format("w {:x} {:x} {:x}", paddr, size, value);
}

// Points 2 MiB window `window` at `address` of `tile`.
void Point(Sequence* sequence, uint32_t window, hw::Coordinate tile, uint64_t address) {
  const uint64_t low =
      address >> 21 | uint64_t{tile.x} << hw::kTlbXEndBit | uint64_t{tile.y} << hw::kTlbYEndBit;
  const uint64_t at = hw::kModelBar0Address + hw::kTlbRegisters + window * hw::kTlbRegisterStride;
  sequence->push_back(W(at, 4, low & 0xFFFFFFFF));
  sequence->push_back(W(at + 4, 4, low >> 32));
  sequence->push_back(W(at + 8, 4, 1 << 6));
}

// Where an address of the tile is while window `window` points at its stretch of 2 MiB.
uint64_t Through(uint32_t window, uint64_t address) {
  return hw::kModelBar0Address + window * hw::kTlbWindow2MBytes + address % hw::kTlbWindow2MBytes;
}

// Window 0 shows L1 of the tile, window 1 its registers.
Sequence Started() {
  Sequence sequence = {"callbacks", "init"};
  Point(&sequence, 0, kTile, 0);
  Point(&sequence, 1, kTile, kRegisters);
  return sequence;
}

void Load(Sequence* sequence, uint32_t address, const Rv32Asm& program) {
  for (const uint32_t word : program.words()) {
    sequence->push_back(W(Through(0, address), 4, word));
    address += 4;
  }
}

DriverRun Drive(const Sequence& sequence, const std::string& options = "") {
  return RunSequence(TTFD_SIM_LIBRARY, sequence, options);
}

// What the last operation printed.
std::string Last(const DriverRun& run) {
  EXPECT_TRUE(run.ended) << run.ToString();
  if (run.results.empty()) return "";
  const std::string& last = run.results.back();
  return last.substr(last.find(' ') + 1);
}

TEST(SimLibrary, ShowsTheContractsFunctionsAndNothingElse) {
  FILE* const nm = popen("nm -D --defined-only --format=posix " TTFD_SIM_LIBRARY, "r");
  ASSERT_NE(nm, nullptr);
  std::set<std::string> names;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), nm) != nullptr) {
    names.insert(std::string(line.data()).substr(0, std::string(line.data()).find(' ')));
  }
  EXPECT_EQ(pclose(nm), 0);
  EXPECT_EQ(names, (std::set<std::string>{"libttsim_set_pci_dma_mem_callbacks", "libttsim_init",
                                          "libttsim_exit", "libttsim_pci_config_rd32",
                                          "libttsim_pci_config_wr32", "libttsim_pci_mem_rd_bytes",
                                          "libttsim_pci_mem_wr_bytes", "libttsim_clock",
                                          "libttsim_tile_rd_bytes", "libttsim_tile_wr_bytes"}));
}

TEST(SimLibrary, ConfigurationSpaceIsThatOfOneCard) {
  const DriverRun run = Drive({"init", "cr 0 0", "cr 8 0", "cr f8 4", "cr 0 8", "cr 0 10",
                               "cr 0 14", "cr 0 18", "cr 0 1c", "cr 0 20", "cr 0 24", "cr 0 3c",
                               "cw 0 4 6", "cr 0 4", "cw 0 10 ffffffff", "cr 0 10", "exit"});
  EXPECT_EQ(run.results,
            (std::vector<std::string>{"0 ", "1 b1401e52", "2 ffffffff", "3 ffffffff", "4 12000000",
                                      "5 00000004", "6 00000001", "7 20000004", "8 00000001",
                                      "9 00000004", "10 00000008", "11 000000ff", "12 ",
                                      "13 00000006", "14 ", "15 e0000004", "16 "}));
  EXPECT_TRUE(run.ended);
}

TEST(SimLibrary, EveryBarReachesTheChip) {
  Sequence sequence = Started();
  sequence.push_back(W(Through(0, 0x1235), 7, 0x77665544332211));
  sequence.push_back(R(Through(0, 0x1234), 9));
  EXPECT_EQ(Last(Drive(sequence)), "001122334455667700");
  const uint64_t iatu = hw::kModelBar2Address + hw::kIatuOutbound + 15 * hw::kIatuStride;
  EXPECT_EQ(Last(Drive({"init", W(iatu + hw::kIatuTargetLow, 4, 0x12345678),
                        R(iatu + hw::kIatuTargetLow, 4)})),
            "78563412");
  const uint64_t word1 = hw::kModelBar0Address + hw::kTlbRegisters +
                         (hw::kTlbWindows2M + 7) * hw::kTlbRegisterStride + 4;
  const uint64_t last = hw::kModelBar4Address + 7 * hw::kTlbWindow4GBytes + hw::kDramBankBytes - 4;
  EXPECT_EQ(Last(Drive({"init", W(word1, 4, 17 | 12 << 6), W(last, 4, 0xCAFE), R(last, 4)})),
            "feca0000");
}

TEST(SimLibrary, ProgramsRunWhenItIsClockedAndOnlyThen) {
  Rv32Asm program;
  program.StoreWord(0x8000, 0x600D);
  program.Halt();
  Sequence sequence = Started();
  Load(&sequence, 0, program);
  sequence.push_back(W(Through(1, hw::kSoftReset0), 4, 0x47000));
  Sequence unclocked = sequence;
  unclocked.push_back(R(Through(0, 0x8000), 4));
  EXPECT_EQ(Last(Drive(unclocked)), "00000000");
  sequence.push_back("clock 64");
  sequence.push_back(R(Through(0, 0x8000), 4));
  EXPECT_EQ(Last(Drive(sequence)), "0d600000");
  // The clock goes on while every hart waits.
  sequence.push_back(R(Through(1, hw::kWallClockLow), 4));
  EXPECT_EQ(Last(Drive(sequence)), "64000000");
}

TEST(SimLibrary, CallbacksServeTheDevice) {
  Rv32Asm program;
  EmitNoc(program,
          NocRead(kTile, hw::kPcieTranslated, hw::kHostMemoryNocBase | 0x40000, 0x10000, 0x4000));
  EmitNoc(program,
          NocWrite(kTile, 0x10000, hw::kPcieTranslated, hw::kHostMemoryNocBase | 0x90010, 0x40));
  program.Halt();
  Sequence sequence = Started();
  Load(&sequence, 0, program);
  // Region 3 moves 0x90000..0x90FFF to 2^40.
  const uint64_t region = hw::kModelBar2Address + hw::kIatuOutbound + 3 * hw::kIatuStride;
  sequence.push_back(W(region + hw::kIatuBaseLow, 4, 0x90000));
  sequence.push_back(W(region + hw::kIatuLimitLow, 4, 0x90FFF));
  sequence.push_back(W(region + hw::kIatuTargetHigh, 4, 0x100));
  sequence.push_back(W(region + hw::kIatuControl2, 4, hw::kIatuControl2Enable));
  sequence.push_back("hp 40010 40 7");
  sequence.push_back(W(Through(1, hw::kSoftReset0), 4, 0x47000));
  sequence.push_back("clock 200");
  Sequence at_source = sequence, at_target = sequence;
  at_source.push_back("hr 40010 40");
  at_target.push_back("hr 10000000010 40");
  const std::string moved = Last(Drive(at_target));
  EXPECT_EQ(moved.substr(0, 4), "hash");
  // The write took its 64 bytes from what was read from 0x40000 on, so they begin 16 bytes early.
  at_source.back() = "hr 40000 40";
  EXPECT_EQ(moved, Last(Drive(at_source)));
  sequence.push_back("dma");
  EXPECT_EQ(Last(Drive(sequence)).substr(0, 2), "2 ");
  // A window at the PCIe tile calls them inside the BAR access.
  Sequence window = {"callbacks", "init"};
  Point(&window, 9, hw::kPcieTranslated, hw::kHostMemoryNocBase);
  window.push_back(W(Through(9, 0x1234), 2, 0xBEEF));
  window.push_back("hr 1234 2");
  EXPECT_EQ(Last(Drive(window)), "efbe");
}

TEST(SimLibrary, OptionsComeFromTheEnvironment) {
  Sequence sequence = {"init"};
  Point(&sequence, 0, {16, 11}, 0);
  sequence.push_back(R(Through(0, 0), 4));
  EXPECT_TRUE(Drive(sequence).ended);
  EXPECT_EQ(Drive(sequence, "board=p100a").category, "UnimplementedFunctionality");
  EXPECT_EQ(Drive(sequence, "columns=16").category, "UnimplementedFunctionality");
  EXPECT_EQ(Drive(sequence, "colour=red").category, "ConfigurationError");
}

// Every way of being refused: the process ends with status 1, after one line of the right category.
struct RefusalCase {
  const char* name;
  Sequence before;
  std::string refused;
  const char* category;
};

void PrintTo(const RefusalCase& row, std::ostream* out) { *out << row.name; }

class SimLibraryRefuses : public testing::TestWithParam<RefusalCase> {};

TEST_P(SimLibraryRefuses, AndEndsTheProcess) {
  const RefusalCase& row = GetParam();
  Sequence sequence = row.before;
  sequence.push_back(row.refused);
  sequence.push_back("dma");  // not reached
  const DriverRun run = Drive(sequence);
  EXPECT_FALSE(run.ended);
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_EQ(run.results.size(), row.before.size()) << run.ToString();
  EXPECT_EQ(run.category, row.category) << run.ToString();
  EXPECT_NE(run.text.find(": libttsim_"), std::string::npos) << run.text;
}

// The tile runs `program`.
Sequence Running(const Rv32Asm& program) {
  Sequence sequence = Started();
  Load(&sequence, 0, program);
  sequence.push_back(W(Through(1, hw::kSoftReset0), 4, 0x47000));
  return sequence;
}

Rv32Asm One(uint32_t instruction) {
  Rv32Asm program;
  program.Word(instruction);
  return program;
}

Rv32Asm OneNoc(const NocFields& fields) {
  Rv32Asm program;
  EmitNoc(program, fields);
  return program;
}

Rv32Asm UnalignedLoad() {
  Rv32Asm program;
  program.Lw(kT0, kZero, 2);
  return program;
}

constexpr uint64_t kBar0 = hw::kModelBar0Address;
constexpr const char* kUndefined = "UndefinedBehavior";
constexpr const char* kUnsupported = "UnsupportedFunctionality";
constexpr const char* kUnimplemented = "UnimplementedFunctionality";
constexpr const char* kConfiguration = "ConfigurationError";

std::vector<RefusalCase> RefusalCases() {
  Sequence unserved = {"init"};
  Point(&unserved, 0, hw::kPcieTranslated, hw::kHostMemoryNocBase);
  Sequence nowhere = {"init"};
  Point(&nowhere, 0, {8, 5}, 0);
  return {
      {"BeforeInit", {}, "cr 0 0", kConfiguration},
      {"ClockBeforeInit", {"callbacks"}, "clock 1", kConfiguration},
      {"ExitBeforeInit", {}, "exit", kConfiguration},
      {"AfterExit", {"init", "exit", "init", "exit"}, "clock 1", kConfiguration},
      {"SecondInit", {"init"}, "init", kConfiguration},
      {"CallbacksAfterInit", {"init"}, "callbacks", kConfiguration},
      {"NoCallbacks", unserved, R(kBar0, 4), kConfiguration},
      {"TileRead", {"init"}, "tr", kUnsupported},
      {"TileWrite", {"init"}, "tw", kUnsupported},
      {"ConfigFunction", {"init"}, "cr 1 0", kUndefined},
      {"ConfigBus", {"init"}, "cr 100 0", kUndefined},
      {"ConfigMisaligned", {"init"}, "cr 0 2", kUndefined},
      {"ConfigEnd", {"init"}, "cr 0 40", kUnimplemented},
      {"ConfigWriteNobody", {"init"}, "cw 8 4 0", kUndefined},
      {"ConfigWriteId", {"init"}, "cw 0 0 0", kUnimplemented},
      {"NoBar", {"init"}, R(0x1000, 4), kUndefined},
      {"NoBytes", {"init"}, R(kBar0, 0), kUndefined},
      {"Bar0Overrun", {"init"}, R(kBar0 + hw::kBar0Bytes - 2, 4), kUndefined},
      {"Bar4Overrun", {"init"}, W(hw::kModelBar4Address + hw::kBar4Bytes - 2, 4, 0), kUndefined},
      {"Bar2Width", {"init"}, R(hw::kModelBar2Address + hw::kIatuOutbound, 8), kUnsupported},
      {"Bar2Unknown", {"init"}, R(hw::kModelBar2Address + 0x80000, 4), kUnimplemented},
      {"WindowEnd", Started(), R(kBar0 + hw::kTlbWindow2MBytes - 2, 4), kUnsupported},
      {"RegisterWidth", Started(), R(Through(1, hw::kSoftReset0), 2), kUnsupported},
      {"RegisterUnknown", Started(), R(Through(1, hw::kNiuAddress + 0x7FC), 4), kUnimplemented},
      {"RegisterValue", Started(), W(Through(1, hw::kSoftReset0), 4, 1), kUnimplemented},
      {"NoTile", nowhere, R(kBar0, 4), kUnimplemented},
      {"Zeroes", Running(One(0)), "clock a", kUndefined},
      {"FenceI", Running(One(0x100F)), "clock a", kUnsupported},
      {"Csr", Running(One(0xC0002573)), "clock a", kUnsupported},
      {"Unaligned", Running(UnalignedLoad()), "clock a", "NonContractualBehavior"},
      {"NocAlignment", Running(OneNoc(NocWrite(kTile, 0x1000, {2, 3}, 0x1004, 16))), "clock 40",
       kUndefined},
      {"NocLength", Running(OneNoc(NocRead(kTile, {2, 3}, 0, 0x2000, 0))), "clock 40",
       kUnsupported},
      {"NocNoTile", Running(OneNoc(NocRead(kTile, {8, 5}, 0, 0x2000, 16))), "clock 40",
       kUnimplemented},
      {"NocInline", Running(OneNoc(NocInline(kTile, {2, 3}, 0x2000, 1))), "clock 40", kUndefined},
  };
}

INSTANTIATE_TEST_SUITE_P(Contract, SimLibraryRefuses, testing::ValuesIn(RefusalCases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ttfd
