// The Tensix engine between the harts of a tile: pushes, waits, wake-ups, refusals. Its arithmetic is compared with the
// official simulator's in tests/peer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/engine_wait.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/tensix/disassemble.h"
#include "runtime/sim/tensix/report.h"
#include "tests/support/sim_chip.h"

namespace ttfd::sim_tensix_test {
namespace {

namespace isa = hw::tensix;
using testing::HasSubstr;

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr uint32_t kDone = 0x4000;  // where programs say that they got to their end
constexpr uint32_t kSelect1 = 1u << 1;

template <typename Instruction>
void Emit(Rv32Asm& a, Instruction instruction) {
  a.Word(isa::InlineWord(instruction.word));
}

// Says which of the programs it is that got to its end.
void Finish(Rv32Asm& a, uint32_t index) {
  a.StoreWord(kDone + 4 * index, 1);
  a.Halt();
}

class TensixEngine : public testing::Test {
 protected:
  // The programs run on TRISC0, TRISC1 and TRISC2; an empty one is not started.
  Status Run(const std::array<Rv32Asm, 3>& programs, uint64_t clocks = 100000) {
    uint32_t held = hw::kSoftResetAllHarts;
    for (uint32_t i = 0; i < 3; ++i) {
      if (programs[i].words().empty()) continue;
      chip_.Load(kTile, hw::kTriscDefaultPc[i], programs[i]);
      held &= ~hw::SoftResetBit(hw::kTrisc0 + i);
    }
    chip_.Start(kTile, held);
    return chip_.device().Advance(clocks).status();
  }
  bool Done(uint32_t index) { return chip_.ReadWord(kTile, kDone + 4 * index) == 1; }
  const sim::Hart& hart(uint32_t thread) { return chip_.hart(kTile, hw::kTrisc0 + thread); }

  SimChip chip_;
};

TEST_F(TensixEngine, AThreadWaitsUntilAnotherPosts) {
  std::array<Rv32Asm, 3> programs;
  Emit(programs[1], isa::SEMINIT{}.sem_sel(kSelect1).max_value(1));
  Emit(programs[1],
       isa::SEMWAIT{}.sem_sel(kSelect1).wait_sem_cond(isa::kWhileZero).stall_res(isa::kStallMath));
  Finish(programs[1], 1);
  ASSERT_TRUE(Run(programs).ok());
  EXPECT_EQ(hart(1).state, sim::HartState::kParked);
  EXPECT_EQ(hart(1).pc, hw::kTriscDefaultPc[1] + 4) << "in front of the wait";
  EXPECT_FALSE(Done(1));
  EXPECT_EQ(chip_.chip().runnable_harts(), 0u);

  Rv32Asm post;
  Emit(post, isa::SEMPOST{}.sem_sel(kSelect1));
  Finish(post, 2);
  chip_.Load(kTile, hw::kTriscDefaultPc[2], post);
  chip_.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1 & ~hw::kSoftResetTrisc2);
  ASSERT_TRUE(chip_.device().Advance(100000).ok());
  EXPECT_TRUE(Done(1));
  EXPECT_TRUE(Done(2));
}

TEST_F(TensixEngine, AStoreToThePushAddressWaitsLikeAnInstruction) {
  std::array<Rv32Asm, 3> programs;
  const auto wait =
      isa::SEMWAIT{}.sem_sel(kSelect1).wait_sem_cond(isa::kWhileZero).stall_res(isa::kStallMath);
  programs[1].StoreWord(isa::kPush, isa::SEMINIT{}.sem_sel(kSelect1).max_value(1).word);
  programs[1].StoreWord(isa::kPush, wait.word);
  Finish(programs[1], 1);
  // T2 posts through the semaphore's register.
  programs[2].Li(kT0, isa::kSemaphore + 4);
  programs[2].Sw(kZero, kT0, 0);
  Finish(programs[2], 2);
  ASSERT_TRUE(Run(programs).ok());
  EXPECT_TRUE(Done(1));
  EXPECT_TRUE(Done(2));
}

TEST_F(TensixEngine, AHartThatPollsASemaphoreParksUntilItChanges) {
  std::array<Rv32Asm, 3> programs;
  programs[0].Li(kT0, isa::kSemaphore + 4);
  const Rv32Asm::Label poll = programs[0].Here();
  programs[0].Lw(kT1, kT0, 0);
  programs[0].Beq(kT1, kZero, poll);
  Finish(programs[0], 0);
  ASSERT_TRUE(Run(programs).ok());
  EXPECT_EQ(hart(0).state, sim::HartState::kParked);
  Rv32Asm post;
  Emit(post, isa::SEMINIT{}.sem_sel(kSelect1).init_value(1).max_value(1));
  Finish(post, 2);
  chip_.Load(kTile, hw::kTriscDefaultPc[2], post);
  chip_.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc0 & ~hw::kSoftResetTrisc2);
  ASSERT_TRUE(chip_.device().Advance(100000).ok());
  EXPECT_TRUE(Done(0));
}

TEST_F(TensixEngine, WaitOf_NamesInstructionAndCondition) {
  constexpr uint32_t kSelect2 = 1u << 2;
  const auto fill = isa::UNPACR_NOP{}.unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1);
  std::array<Rv32Asm, 3> programs;
  for (int i = 0; i < 3; ++i) Emit(programs[0], fill);
  Emit(programs[1], isa::STALLWAIT{}
                        .stall_res(isa::kStallMath)
                        .wait_res(isa::kUntilSrcAValid | isa::kUntilSrcBValid));
  Emit(programs[2], isa::SEMINIT{}.sem_sel(kSelect2).init_value(1).max_value(1));
  programs[2].StoreWord(
      isa::kPush,
      isa::SEMWAIT{}.sem_sel(kSelect2).wait_sem_cond(isa::kWhileAtMax).stall_res(1).word);
  ASSERT_TRUE(Run(programs).ok());
  const auto wait = [this](uint32_t hart) {
    const auto found = chip_.device().WaitOf(kTile, hart);
    return found.has_value() ? found->instruction + ": " + found->condition : "none";
  };
  EXPECT_EQ(wait(hw::kTrisc0), sim::tensix::Disassemble(fill.word) + ": SrcA has no free bank");
  EXPECT_THAT(wait(hw::kTrisc1), HasSubstr("STALLWAIT wait_res=384 stall_res=64: Src"));
  EXPECT_EQ(wait(hw::kTrisc2),
            "SEMWAIT wait_sem_cond=2 sem_sel=4 stall_res=1: semaphore 2 is at its maximum");
  EXPECT_EQ(wait(hw::kBrisc), "none") << "held in reset";
  EXPECT_FALSE(chip_.device().WaitOf({0, 0}, 0).has_value()) << "no Tensix tile";
  EXPECT_EQ(
      sim::DescribeEngineWait(isa::MVMUL{}.word, sim::tensix::kSrcAEvent | sim::tensix::kSrcBEvent),
      "SrcA and SrcB have no valid bank");
}

TEST_F(TensixEngine, AChipResetEmptiesIt) {
  std::array<Rv32Asm, 3> programs;
  Emit(programs[0], isa::SEMINIT{}.sem_sel(kSelect1).init_value(3).max_value(4));
  programs[0].StoreWord(hw::kTensixConfig + 4 * isa::kPackAddress.word, 0x1234);
  Finish(programs[0], 0);
  ASSERT_TRUE(Run(programs).ok());
  chip_.Reset();
  std::array<Rv32Asm, 3> readers;
  readers[0].Li(kT0, isa::kSemaphore + 4);
  readers[0].Lw(kT1, kT0, 0);
  readers[0].Li(kT0, hw::kTensixConfig + 4 * isa::kPackAddress.word);
  readers[0].Lw(kT2, kT0, 0);
  readers[0].Halt();
  ASSERT_TRUE(Run(readers).ok());
  EXPECT_EQ(hart(0).x[kT1], 0u);
  EXPECT_EQ(hart(0).x[kT2], 0u);
}

TEST_F(TensixEngine, AnAdvanceEndsWhenTheEnginesHaveWorkedForItsShare) {
  std::array<Rv32Asm, 3> programs;
  Rv32Asm& a = programs[1];
  const Rv32Asm::Label loop = a.Here();
  for (int i = 0; i < 100; ++i) Emit(a, isa::ZEROACC{}.clear_mode(3));
  a.Jump(loop);
  ASSERT_TRUE(Run(programs, 0).ok());
  constexpr uint64_t kClocks = 100'000'000;
  const StatusOr<AdvanceResult> advanced = chip_.device().Advance(kClocks);
  ASSERT_TRUE(advanced.ok());
  EXPECT_LT(advanced->clocks, kClocks);
  EXPECT_FALSE(advanced->quiescent);
}

struct RefusedPush {
  const char* name;
  uint32_t instruction;
  const char* text;  // in the fault
};

class TensixRefusals : public TensixEngine, public testing::WithParamInterface<RefusedPush> {};

TEST_P(TensixRefusals, NameThreadInstructionAndField) {
  std::array<Rv32Asm, 3> programs;
  programs[1].StoreWord(isa::kPush, GetParam().instruction);
  programs[1].Halt();
  const Status status = Run(programs);
  ASSERT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(StatusMessage(status), HasSubstr("Tensix instruction at tile (1,2)"));
  EXPECT_THAT(StatusMessage(status), HasSubstr("TRISC1"));
  EXPECT_THAT(StatusMessage(status), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    All, TensixRefusals,
    testing::Values(RefusedPush{"no_opcode", 0xBF000000, "T1 .ttinsn 0xbf000000: opcode: "},
                    RefusedPush{"not_modelled", isa::MOP{}.type(1).word, "T1 MOP type=1: opcode: "},
                    RefusedPush{"unused_bits", isa::ZEROACC{}.word | 1 << 23,
                                "T1 ZEROACC: unused bits: "},
                    RefusedPush{"post_at_maximum", isa::SEMPOST{}.sem_sel(2).word,
                                "T1 SEMPOST sem_sel=2: sem_sel: "},
                    RefusedPush{"unpack_without_format",
                                isa::UNPACR{}.last(1).ovrd_thread_id(1).word, "formats: "},
                    RefusedPush{"pack_without_format", isa::PACR{}.word, "formats: "}),
    [](const auto& refused) { return std::string(refused.param.name); });

TEST_F(TensixEngine, IsOutOfReachOfNcriscAndTheNoc) {
  EXPECT_EQ(chip_.Write(kTile, isa::kPush, BytesOf(isa::NOP{}.word)).code(),
            StatusCode::kInvalidArgument);
  Rv32Asm a;
  Emit(a, isa::NOP{});
  a.Halt();
  chip_.Load(kTile, hw::kNcriscDefaultPc, a);
  chip_.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetNcrisc);
  EXPECT_THAT(StatusMessage(chip_.device().Advance(1000).status()),
              HasSubstr("NCRISC cannot push"));
}

}  // namespace
}  // namespace ttfd::sim_tensix_test
