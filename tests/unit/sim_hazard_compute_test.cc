// Queues before the Tensix engine, and each kind of wait: a program without it ends on the plain model and is a fault
// with the hazard, which names the instruction or access that did not wait; with it, it ends under every seed.
#include <gmock/gmock.h>

#include <array>
#include <string>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix/disassemble.h"
#include "runtime/sim/unsettled.h"
#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_compute_test {
namespace {

namespace isa = hw::tensix;
namespace tensix = sim::tensix;
using testing::HasSubstr;

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr char kHazard[] = "compute";
constexpr uint32_t kIn = 0x10000;   // a tile that is unpacked,
constexpr uint32_t kIn2 = 0x11000;  // another one,
constexpr uint32_t kOut = 0x20000;  // and where rows are packed to
constexpr uint32_t kDone = 0x4000;  // where programs say that they got to their end
constexpr uint32_t kReady = 0x4040;
constexpr uint32_t kSelect1 = 1u << 1;

using Programs =
    std::array<Rv32Asm, 3>;  // of TRISC0, TRISC1 and TRISC2; an empty one is not started

template <typename Instruction>
void Emit(Rv32Asm& a, Instruction instruction) {
  a.Word(isa::InlineWord(instruction.word));
}
void Sync(Rv32Asm& a) {
  a.Li(kT6, isa::kSync);
  a.Sw(kZero, kT6, 0);
  a.Lw(kT5, kT6, 0);
  a.Addi(kT5, kT5, 0);
}
void Config(Rv32Asm& a, uint32_t word, uint32_t value) {
  a.StoreWord(hw::kTensixConfig + 4 * word, value);
}
void Address(Rv32Asm& a, const isa::ConfigField& field, uint32_t address) {
  Config(a, field.word, address / 16 - 1);
}
void ReadBack(Rv32Asm& a, uint32_t word) {
  a.Li(kT6, hw::kTensixConfig + 4 * word);
  a.Lw(kT5, kT6, 0);
  a.Addi(kT5, kT5, 0);
}
void Await(Rv32Asm& a, uint32_t held, uint32_t conditions) {
  Emit(a, isa::STALLWAIT{}.stall_res(held).wait_res(conditions));
}
// Without a last wait, which would end what the other threads have not waited for.
void End(Rv32Asm& a, uint32_t thread) {
  a.StoreWord(kDone + 4 * thread, 1);
  EmitEnd(a);
}

// Configuration and counters of the own thread.
void SetUpThread(Rv32Asm& a) {
  Emit(a, isa::SETC16{}.setc16_reg(isa::kThreadUnpackSet).setc16_value(4));
  Emit(a, isa::SETC16{}
              .setc16_reg(isa::kThreadAddrModPack)
              .setc16_value(isa::kAddrModSourceYIncrement.In(0, 4)));
  Emit(a, isa::SETADCXX{}.cnt_set_mask(0b011).x_end(1023));
  Emit(a, isa::SETADCXX{}.cnt_set_mask(0b100).x_end(15));
}
// And what all share: tiles of bfloat16, a Dst of 32 bits.
void SetUp(Rv32Asm& a) {
  constexpr uint32_t kBFloat16 = 5;
  Config(a, 1, kBFloat16 << 17 | kBFloat16 << 21 | kBFloat16 << 25 | 1u << 29 | 1u << 30);
  Config(a, 64, kBFloat16 | 1u << 4);
  Config(a, 65, 1u << 16 | 1);
  Config(a, 72, kBFloat16);
  Config(a, 73, 1);
  Config(a, 84, 64);
  Config(a, 86, 1024);
  Config(a, 12, 32u << 16);
  Config(a, 18, 1);
  Config(a, 24, 0xFFFF);
  Config(a, 28, 16u << 8);
  Config(a, 70, 1 | kBFloat16 << 4 | kBFloat16 << 8);
  Address(a, isa::kPackAddress, kOut);
  Address(a, isa::kUnpackers[0].address, kIn);
  ReadBack(a, isa::kUnpackers[0].address.word);
  SetUpThread(a);
  Sync(a);
}

constexpr isa::UNPACR kUnpack = isa::UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1);
constexpr auto kFillSrcB =
    isa::UNPACR_NOP{}.unpacker(1).unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1);
constexpr isa::PACR kPack = isa::PACR{}.last(1);
constexpr auto kWhileEmpty = isa::SEMWAIT{}
                                 .sem_sel(kSelect1)
                                 .wait_sem_cond(isa::kWhileZero)
                                 .stall_res(isa::kStallMath | isa::kStallPack | isa::kStallSync);
constexpr auto kWhileFull = kWhileEmpty.wait_sem_cond(isa::kWhileAtMax);

void FillSources(Rv32Asm& a) {
  Emit(a, kUnpack);
  Emit(a, kFillSrcB);
}
void Add(Rv32Asm& a) {
  FillSources(a);
  Emit(a, isa::ELWADD{}.clear_dvalid(3));
}

// T2 starts with the other thread's set-up done.
void StartSecond(Programs& programs) {
  programs[1].StoreWord(kReady, 1);
  EmitAwaitWord(programs[2], kReady, 1);
  SetUpThread(programs[2]);
  Sync(programs[2]);
}

struct WaitCase {
  const char* name;
  void (*emit)(Programs& programs, bool waits);  // behind SetUp() of T1
  const char* found;                             // in the fault of the program that does not wait
};

const WaitCase kWaits[] = {
    {"next_base_address",
     [](Programs& p, bool waits) {
       Emit(p[1], kUnpack);
       if (waits) Sync(p[1]);
       Address(p[1], isa::kUnpackers[0].address, kIn2);
     },
     "writes configuration word 76, which T1 UNPACR "},
    {"read_back",
     [](Programs& p, bool waits) {
       Address(p[1], isa::kUnpackers[0].address, kIn2);
       if (waits) ReadBack(p[1], isa::kUnpackers[0].address.word);
       Emit(p[1], kUnpack);
     },
     "T1 UNPACR last=1 set_dat_valid=1 ovrd_thread_id=1 reads configuration word 76, where a store "
     "of TRISC1 may not have arrived"},
    {"stallwait_for_stores",
     [](Programs& p, bool waits) {
       Address(p[1], isa::kPackAddress, kIn2);
       if (waits) Await(p[1], isa::kStallPack, isa::kUntilConfig);
       Emit(p[1], kPack);
     },
     "T1 PACR last=1 reads configuration word 69, where a store"},
    {"fence_and_any_word",
     [](Programs& p, bool waits) {
       Address(p[1], isa::kPackAddress, kIn2);
       if (waits) p[1].Fence();
       ReadBack(p[1], 70);
       Emit(p[1], kPack);
     },
     "T1 PACR last=1 reads configuration word 69, where a store"},
    {"pop",
     [](Programs& p, bool waits) {
       Emit(p[1], kUnpack);
       if (waits) Sync(p[1]);
       p[1].StoreWord(kIn + 64, 7);
     },
     "L1 0x1"},
    {"push",
     [](Programs& p, bool waits) {
       Emit(p[1], kPack);
       if (waits) Sync(p[1]);
       EmitCopyWord(p[1], kOut + 64, kDone + 32);
     },
     "L1 0x2"},
    {"address_modifier",
     [](Programs& p, bool waits) {
       Add(p[1]);
       if (waits) Await(p[1], isa::kStallConfig, isa::kUntilMath);
       Emit(p[1], isa::SETC16{}.setc16_reg(isa::kThreadAddrModAb).setc16_value(8));
     },
     "T1 SETC16 setc16_value=8 setc16_reg=12 writes thread configuration 12, which T1 ELWADD"},
    {"vector_after_matrix",
     [](Programs& p, bool waits) {
       Add(p[1]);
       if (waits) Await(p[1], isa::kStallSfpu, isa::kUntilMath);
       Emit(p[1], isa::SFPLOAD{}.instr_mod(3).dest_reg_addr(4));
     },
     "T1 SFPLOAD dest_reg_addr=4 instr_mod=3 reads rows 4 to 7 of Dst, which T1 ELWADD"},
    {"matrix_after_vector",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::SFPLOAD{}.instr_mod(3));
       if (waits) Await(p[1], isa::kStallMath, isa::kUntilSfpu);
       Emit(p[1], isa::ZEROACC{}.clear_mode(1).use_32_bit_mode(1));
     },
     "which T1 SFPLOAD instr_mod=3 has not finished reading"},
    {"pack_after_matrix",
     [](Programs& p, bool waits) {
       Add(p[1]);
       if (waits) Await(p[1], isa::kStallPack, isa::kUntilMath);
       Emit(p[1], kPack);
     },
     "T1 PACR last=1 reads rows 0 to 3 of Dst, which T1 ELWADD"},
    {"unit_that_waits",
     [](Programs& p, bool waits) {
       Add(p[1]);
       Await(p[1], waits ? isa::kStallPack : isa::kStallMath, isa::kUntilMath);
       Emit(p[1], kPack);
     },
     "T1 PACR last=1 reads rows 0 to 3 of Dst, which T1 ELWADD"},
    {"unit_that_is_awaited",
     [](Programs& p, bool waits) {
       Add(p[1]);
       Await(p[1], isa::kStallPack, waits ? isa::kUntilMath : isa::kUntilSfpu);
       Emit(p[1], kPack);
     },
     "T1 PACR last=1 reads rows 0 to 3 of Dst, which T1 ELWADD"},
    {"general_register",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::SETDMAREG{}.reg_index_16b(8).payload_sig_sel(0x200));
       if (waits) Await(p[1], isa::kStallConfig, isa::kUntilThcon);
       Emit(p[1], isa::WRCFG{}.cfg_reg(180).gpr_address(4));
     },
     "T1 WRCFG cfg_reg=180 gpr_address=4 reads general register 4, which T1 SETDMAREG"},
    {"load_of_written_word",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::RMWCIB0{}.cfg_reg_addr(12).data(4).mask(0xFF));
       if (waits) Sync(p[1]);
       ReadBack(p[1], 12);
     },
     "reads configuration word 12, which T1 RMWCIB0"},
    {"store_of_written_register",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::SETDMAREG{}.reg_index_16b(8).payload_sig_sel(0x200));
       if (waits) Sync(p[1]);
       p[1].StoreWord(isa::kGprs + 16, 5);
     },
     "writes general register 4, which T1 SETDMAREG"},
    {"bank_that_is_not_valid",
     [](Programs& p, bool waits) {
       Emit(p[1], kUnpack.set_dat_valid(0));
       if (waits) Await(p[1], isa::kStallMath, isa::kUntilUnpack0);
       Emit(p[1], isa::ZEROSRC{}.src_mask(1).write_mode(1));
     },
     "T1 ZEROSRC src_mask=1 write_mode=1 writes bank 0 of SrcA, which T1 UNPACR"},
    {"post",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::SEMINIT{}.sem_sel(kSelect1).max_value(2));
       Sync(p[1]);
       StartSecond(p);
       Add(p[1]);
       if (waits) Await(p[1], isa::kStallSync, isa::kUntilMath);
       Emit(p[1], isa::SEMPOST{}.sem_sel(kSelect1));
       Emit(p[2], kWhileEmpty);
       Emit(p[2], kPack);
     },
     "T2 PACR last=1 reads rows 0 to 3 of Dst, which T1 ELWADD"},
    {"get",
     [](Programs& p, bool waits) {
       Emit(p[1], isa::SEMINIT{}.sem_sel(kSelect1).init_value(1).max_value(1));
       Sync(p[1]);
       StartSecond(p);
       Emit(p[2], kPack);
       if (waits) Await(p[2], isa::kStallSync, isa::kUntilPack);
       Emit(p[2], isa::SEMGET{}.sem_sel(kSelect1));
       Emit(p[1], kWhileFull);
       Emit(p[1], isa::ZEROACC{}.clear_mode(2).use_32_bit_mode(1));
     },
     "T1 ZEROACC use_32_bit_mode=1 clear_mode=2 writes rows 0 to 511 of Dst, which T2 PACR"},
};

// Runs the case until nothing happens any more.
Status RunCase(SimChip& chip, const WaitCase& which, bool waits) {
  Programs programs;
  SetUp(programs[1]);
  which.emit(programs, waits);
  uint32_t held = hw::kSoftResetAllHarts;
  for (uint32_t i = 0; i < programs.size(); ++i) {
    if (programs[i].words().empty()) continue;
    End(programs[i], i);
    chip.Load(kTile, hw::kTriscDefaultPc[i], programs[i]);
    held &= ~hw::SoftResetBit(hw::kTrisc0 + i);
  }
  chip.Start(kTile, held);
  ASSIGN_OR_RETURN(const AdvanceResult advanced, chip.device().Advance(10'000'000));
  if (!advanced.quiescent) return Internal("the chip is not quiescent");
  const bool done = chip.ReadWord(kTile, kDone + 4) == 1 &&
                    (programs[2].words().empty() || chip.ReadWord(kTile, kDone + 8) == 1);
  return done ? OkStatus() : Internal("a program does not get to its end");
}

class ComputeWaits : public testing::TestWithParam<WaitCase> {};

TEST_P(ComputeWaits, LeftOut_AreFoundAndNamed) {
  SimChip plain;
  EXPECT_TRUE(RunCase(plain, GetParam(), false).ok()) << "the plain model does not notice";
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(kHazard, seed);
    const std::string text = RunCase(chip, GetParam(), false).ToString();
    EXPECT_THAT(text, HasSubstr("missing wait at tile (1,2)")) << "seed " << seed;
    EXPECT_THAT(text, HasSubstr(GetParam().found)) << "seed " << seed;
  }
}

TEST_P(ComputeWaits, InPlace_AreEnough) {
  for (const char* hazards : {kHazard, "on"}) {
    for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
      SimChip chip = ChipWith(hazards, seed);
      const Status status = RunCase(chip, GetParam(), true);
      EXPECT_TRUE(status.ok()) << hazards << " seed " << seed << ": " << status.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ComputeWaits, testing::ValuesIn(kWaits),
                         [](const auto& test) { return std::string(test.param.name); });

// A hart runs on until its thread's queue is full; then nothing happens any more, and the queue says what it waits for.
TEST(HazardCompute, AFullQueueHoldsItsHart) {
  constexpr uint32_t kPushes = 60;
  constexpr uint32_t kQueued = 29;
  for (uint64_t seed = 1; seed <= kHazardSeeds; ++seed) {
    SimChip chip = ChipWith(kHazard, seed);
    Rv32Asm a;
    Emit(a, kWhileEmpty);
    const uint32_t first = a.Here();
    for (uint32_t i = 0; i < kPushes; ++i) Emit(a, isa::SEMGET{}.sem_sel(1));
    chip.Load(kTile, hw::kTriscDefaultPc[1], a);
    chip.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1);
    ASSERT_TRUE(RunToRest(chip));
    EXPECT_EQ(chip.hart(kTile, hw::kTrisc1).state, sim::HartState::kParked);
    EXPECT_EQ(chip.hart(kTile, hw::kTrisc1).pc, hw::kTriscDefaultPc[1] + first + 4 * kQueued);
    const auto wait = chip.device().WaitOf(kTile, hw::kTrisc1);
    ASSERT_TRUE(wait.has_value());
    EXPECT_EQ(wait->instruction, sim::tensix::Disassemble(kWhileEmpty.word));
    EXPECT_EQ(wait->condition, "semaphore 1 is 0");
  }
}

// Instructions of units that a wait does not name pass it.
TEST(HazardCompute, AWaitHoldsTheUnitsItNames) {
  constexpr uint32_t kSelect2 = 1u << 2;
  const auto passes = [](uint32_t held) {
    SimChip chip = ChipWith(kHazard, 1);
    Rv32Asm a;
    Emit(a, isa::SEMINIT{}.sem_sel(kSelect2).max_value(1));
    Emit(a, kWhileEmpty.stall_res(held));
    Emit(a, isa::SEMPOST{}.sem_sel(kSelect2));
    a.Li(kT6, isa::kSemaphore + 8);
    const Rv32Asm::Label poll = a.Here();
    a.Lw(kT5, kT6, 0);
    a.Beq(kT5, kZero, poll);
    a.StoreWord(kDone, 1);
    EmitEnd(a);
    chip.Load(kTile, hw::kTriscDefaultPc[1], a);
    chip.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1);
    EXPECT_TRUE(RunToRest(chip));
    return chip.ReadWord(kTile, kDone) == 1;
  };
  EXPECT_TRUE(passes(isa::kStallPack));
  EXPECT_FALSE(passes(isa::kStallPack | isa::kStallSync));
}

// The queue waits for a semaphore that the hart has posted, with stores that take time.
TEST(HazardCompute, AHartThatWaitsHasStored) {
  const auto runs = [](SimChip& chip) {
    Rv32Asm a;
    Emit(a, isa::SEMINIT{}.sem_sel(kSelect1).max_value(1));
    Sync(a);
    Emit(a, kWhileEmpty);
    for (int i = 0; i < 60; ++i) a.Addi(kA0, kA0, 1);
    a.Li(kT6, isa::kSemaphore + 4);
    a.Sw(kZero, kT6, 0);
    Sync(a);
    a.StoreWord(kDone, 1);
    EmitEnd(a);
    chip.Load(kTile, hw::kTriscDefaultPc[1], a);
    chip.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1);
    return RunToRest(chip) && chip.ReadWord(kTile, kDone) == 1;
  };
  EXPECT_EQ(CountFailures("compute+stores", runs), 0u);
}

// The text of a fault is its own: the host's later accesses, which are refused too, do not change it.
TEST(HazardCompute, AFaultKeepsItsText) {
  SimChip chip = ChipWith(kHazard, 1);
  Rv32Asm a;
  sim_hazard_compute_test::SetUp(a);  // not the fixture's
  Emit(a, kUnpack);
  End(a, 1);
  chip.Load(kTile, hw::kTriscDefaultPc[1], a);
  chip.Start(kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1);
  ASSERT_TRUE(RunToRest(chip));
  for (const uint32_t address : {kIn, kIn + 64}) chip.WriteWord(kTile, address, 1);
  EXPECT_THAT(
      chip.device().Advance(1).status().ToString(),
      HasSubstr("a hart, the NoC or the host writes L1 0x10000 to 0x10003, which T1 UNPACR"));
}

// A kernel that never waits does not make the model slower and slower.
TEST(HazardCompute, KeepsALimitedNumberOfAccesses) {
  for (const uint32_t step : {0u, 16u}) {
    sim::Unsettled unsettled(false);
    tensix::Footprint footprint;
    footprint.pipeline = tensix::Pipeline::kUnpack0;
    for (uint32_t i = 0; i < 20'000; ++i) {
      footprint.size = 0;
      footprint.Add(tensix::Resource::kL1, i * step, 16, false);
      ASSERT_TRUE(unsettled.Execute(1, kUnpack.word, footprint, unsettled.Next()));
    }
    EXPECT_LE(unsettled.kept(), step == 0 ? 1u : 1024u);
    EXPECT_FALSE(unsettled.AccessL1(19'999 * step, 4, true, false)) << "the last one";
  }
}

// Equal seeds give equal runs.
TEST(HazardCompute, IsDeterministic) {
  // The clock at the end, and the fault where the wait is left out.
  const auto run = [](uint64_t seed) {
    SimChip right = ChipWith(kHazard, seed), wrong = ChipWith(kHazard, seed);
    EXPECT_TRUE(RunCase(right, kWaits[std::size(kWaits) - 1], true).ok());
    const Status fault = RunCase(wrong, kWaits[std::size(kWaits) - 1], false);
    return std::pair(right.chip().clock(), std::string(StatusMessage(fault)));
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

}  // namespace
}  // namespace ttfd::sim_hazard_compute_test
