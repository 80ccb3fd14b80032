// Who watches a chip sees every instruction once, every access, every change of state; and may stop it.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "runtime/sim/inspector.h"
#include "tests/support/sim_chip.h"

namespace ttfd::sim_inspector_test {
namespace {

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr uint32_t kData = 0x10000;

struct Access {
  char kind;
  uint32_t address;
  uint32_t bytes;
  uint32_t value;

  bool operator==(const Access&) const = default;
};

class Recorder final : public sim::Inspector {
 public:
  // Whether the instruction may pass; null: all may.
  std::function<bool(const sim::Hart&)> permit;
  std::vector<uint32_t> pcs;
  std::vector<uint32_t> words;
  std::vector<Access> accesses;
  std::vector<sim::HartState> states;
  int resets = 0;

  bool BeforeInstruction(const sim::Hart& hart, uint32_t word) override {
    if (permit && !permit(hart)) return false;
    pcs.push_back(hart.pc);
    words.push_back(word);
    return true;
  }
  void OnLoad(const sim::Hart&, uint32_t address, uint32_t bytes, uint32_t value) override {
    accesses.push_back({'l', address, bytes, value});
  }
  void OnStore(const sim::Hart&, uint32_t address, uint32_t bytes, uint32_t value) override {
    accesses.push_back({'s', address, bytes, value});
  }
  void OnState(const sim::Hart& hart) override { states.push_back(hart.state); }
  void OnReset() override { ++resets; }
};

AdvanceResult Advance(SimChip& chip, uint64_t clocks = 100000) {
  const StatusOr<AdvanceResult> result = chip.device().Advance(clocks);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.value_or(AdvanceResult{});
}

void Start(SimChip& chip, const Rv32Asm& program) {
  chip.Reset();
  chip.Load(kTile, 0, program);
  chip.Start(kTile);
}

// Counts down from three, then jumps to itself over an instruction that is never reached.
Rv32Asm Countdown() {
  Rv32Asm a;
  a.Li(kT0, 3);
  const Rv32Asm::Label loop = a.Here();
  a.Addi(kT0, kT0, -1);
  a.Bne(kT0, kZero, loop);
  a.Halt();
  return a;
}

TEST(Inspector, SeesEveryInstructionOnceAndItsWord) {
  SimChip chip;
  Recorder recorder;
  chip.chip().Attach(&recorder);
  const Rv32Asm program = Countdown();
  Start(chip, program);
  EXPECT_TRUE(Advance(chip).quiescent);
  ASSERT_GE(recorder.pcs.size(), 9u);
  // Each fence is followed by its jump, however often the hart had to go round to be known as waiting.
  const std::vector<uint32_t> expected = {0, 4, 8, 4, 8, 4, 8, 12, 16};
  EXPECT_EQ(std::vector(recorder.pcs.begin(), recorder.pcs.begin() + 9), expected);
  for (size_t i = 9; i < recorder.pcs.size(); ++i)
    EXPECT_EQ(recorder.pcs[i], i % 2 == 1 ? 12u : 16u);
  for (size_t i = 0; i < recorder.pcs.size(); ++i) {
    EXPECT_EQ(recorder.words[i], program.words()[recorder.pcs[i] / 4]);
  }
  // The fence at which it parked was asked about and is not executed.
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).retired, recorder.pcs.size() - 1);
}

TEST(Inspector, SeesLoadsAndStoresOfEverySizeAndBothOfAnAmo) {
  SimChip chip;
  Recorder recorder;
  chip.chip().Attach(&recorder);
  Rv32Asm a;
  a.Li(kS0, kData);
  a.Li(kS1, hw::kLocalRamAddress + 0x40);
  a.Li(kS2, hw::kSoftReset0);
  a.Li(kA0, 0xFFFFFF81);
  a.Li(kA1, 5);
  a.Sw(kA0, kS0, 0);
  a.Sh(kA0, kS0, 4);
  a.Sb(kA0, kS1, 1);
  a.I(0x0003, kA2, kS0, 0);  // lb
  a.Lhu(kA3, kS0, 4);
  a.Lw(kA4, kS1, 0);
  a.AmoAdd(kA5, kS0, kA1);
  a.Lw(kA6, kS2, 0);
  a.Sw(kA6, kS2, 0);
  a.Halt();
  Start(chip, a);
  Advance(chip);
  constexpr uint32_t kReset = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc;
  const std::vector<Access> expected = {{'s', kData, 4, 0xFFFFFF81},
                                        {'s', kData + 4, 2, 0xFF81},
                                        {'s', hw::kLocalRamAddress + 0x41, 1, 0x81},
                                        {'l', kData, 1, 0x81},
                                        {'l', kData + 4, 2, 0xFF81},
                                        {'l', hw::kLocalRamAddress + 0x40, 4, 0x8100},
                                        {'l', kData, 4, 0xFFFFFF81},
                                        {'s', kData, 4, 0xFFFFFF86},
                                        {'l', hw::kSoftReset0, 4, kReset},
                                        {'s', hw::kSoftReset0, 4, kReset}};
  EXPECT_EQ(recorder.accesses, expected);
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA2], 0xFFFFFF81u);
}

TEST(Inspector, SeesHartsLeaveResetParkWakeAndGoBackToReset) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kS0, kData);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, loop);
  a.Li(kS2, hw::kSoftReset0);
  a.Li(kT0, hw::kSoftResetAllHarts);
  a.Sw(kT0, kS2, 0);
  Recorder recorder;
  chip.chip().Attach(&recorder);
  chip.WriteWord(kTile, kData, 0);
  Start(chip, a);
  EXPECT_EQ(recorder.resets, 1);
  EXPECT_TRUE(Advance(chip).quiescent);
  chip.WriteWord(kTile, kData, 1);
  EXPECT_TRUE(Advance(chip).quiescent);
  const std::vector<sim::HartState> expected = {sim::HartState::kRunnable, sim::HartState::kParked,
                                                sim::HartState::kRunnable, sim::HartState::kHeld};
  EXPECT_EQ(recorder.states, expected);
}

TEST(Inspector, StopsTheChipInFrontOfAnInstructionAndIsAskedAgain) {
  SimChip chip;
  Recorder recorder;
  int asked = 0;
  bool stop = true;
  recorder.permit = [&](const sim::Hart& hart) {
    if (hart.pc != 8) return true;
    ++asked;
    return !stop;
  };
  chip.chip().Attach(&recorder);
  Start(chip, Countdown());
  for (int i = 1; i <= 3; ++i) {
    const AdvanceResult result = Advance(chip);
    EXPECT_TRUE(result.halted);
    EXPECT_FALSE(result.quiescent);
    EXPECT_EQ(asked, i);
    EXPECT_EQ(chip.hart(kTile, hw::kBrisc).pc, 8u);
    EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kT0], 2u);
    EXPECT_EQ(chip.hart(kTile, hw::kBrisc).retired, 2u);
    EXPECT_EQ(chip.chip().runnable_harts(), 1u);
  }
  stop = false;
  const AdvanceResult result = Advance(chip);
  EXPECT_FALSE(result.halted);
  EXPECT_TRUE(result.quiescent);
  EXPECT_EQ(asked, 3 + 3);
}

// Two harts of different tiles that run in turn: a stop in the middle of a round is a pause.
TEST(Inspector, StopChangesNothingOfWhatHartsDo) {
  constexpr hw::Coordinate kOther = {2, 2};
  Rv32Asm a;
  a.Li(kS0, hw::kWallClockLow);
  a.Li(kS1, kData);
  const Rv32Asm::Label loop = a.Here();
  a.Lw(kT0, kS0, 0);
  a.Sw(kT0, kS1, 0);
  a.Addi(kS1, kS1, 4);
  a.Jump(loop);
  const auto run = [&](bool stops) {
    SimChip chip;
    Recorder recorder;
    int left = 0;
    recorder.permit = [&](const sim::Hart&) { return !stops || left-- != 0; };
    chip.chip().Attach(&recorder);
    for (const hw::Coordinate tile : {kTile, kOther}) {
      chip.Load(tile, 0, a);
      chip.Start(tile);
    }
    uint64_t clocks = 0;
    for (int i = 0; clocks < 2500; ++i) {
      left = i % 700 + 1;
      const AdvanceResult result = Advance(chip, 2500 - clocks);
      clocks += result.clocks;
      EXPECT_TRUE(result.halted || clocks >= 2500);
    }
    std::vector<uint32_t> seen;
    for (const hw::Coordinate tile : {kTile, kOther}) {
      for (uint32_t i = 0; i < 600; ++i) seen.push_back(chip.ReadWord(tile, kData + 4 * i));
    }
    return seen;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Inspector, MayLeaveAndASecondOneWatchesAlone) {
  SimChip chip;
  Recorder first;
  Recorder second;
  chip.chip().Attach(&first);
  chip.chip().Attach(&second);
  Start(chip, Countdown());
  Advance(chip);
  EXPECT_EQ(first.pcs, second.pcs);
  const size_t seen = first.pcs.size();
  chip.chip().Detach(&first);
  Start(chip, Countdown());
  Advance(chip);
  EXPECT_EQ(first.pcs.size(), seen);
  EXPECT_GT(second.pcs.size(), seen);
  chip.chip().Detach(&second);
  const size_t all = second.pcs.size();
  Start(chip, Countdown());
  EXPECT_TRUE(Advance(chip).quiescent);
  EXPECT_EQ(second.pcs.size(), all);
}

}  // namespace
}  // namespace ttfd::sim_inspector_test
