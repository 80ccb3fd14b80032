// What the model refuses, it refuses with the right kind, at the right place, and survives.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/hw/arc.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "tests/support/noc_asm.h"
#include "tests/support/sim_chip.h"

namespace ttfd::refusal_test {
namespace {

using sim::FaultKind;

constexpr hw::Coordinate kTile = SimChip::kTile;
constexpr hw::Coordinate kOther = {2, 2};
constexpr hw::Coordinate kDram = {17, 12};
constexpr uint32_t kL1 = 0x10000;

struct Refused {
  const char* name;
  FaultKind kind;
  std::function<void(Rv32Asm&)> program;
};

void Word(Rv32Asm& a, uint32_t word) { a.Word(word); }

std::function<void(Rv32Asm&)> Instruction(uint32_t word) {
  return [word](Rv32Asm& a) { Word(a, word); };
}
// lw/lh/lb and sw/sh/sb by match bits, on one address.
std::function<void(Rv32Asm&)> Load(uint32_t match, uint32_t address) {
  return [=](Rv32Asm& a) {
    a.Li(kS0, address);
    a.I(match, kA0, kS0, 0);
  };
}
std::function<void(Rv32Asm&)> Store(uint32_t match, uint32_t address, uint32_t value = 0) {
  return [=](Rv32Asm& a) {
    a.Li(kS0, address);
    a.Li(kA0, value);
    a.S(match, kS0, kA0, 0);
  };
}
std::function<void(Rv32Asm&)> Noc(const NocFields& fields) {
  return [fields](Rv32Asm& a) { EmitNoc(a, fields); };
}
NocFields With(NocFields fields, const std::function<void(NocFields&)>& change) {
  change(fields);
  return fields;
}

constexpr uint32_t kLw = 0x2003, kLh = 0x1003, kLhu = 0x5003, kLb = 0x0003;
constexpr uint32_t kSw = 0x2023, kSh = 0x1023, kSb = 0x0023;

class Refusals : public testing::TestWithParam<Refused> {};

TEST_P(Refusals, StopTheHartWithKindAndPlaceUntilReset) {
  static SimChip& chip = *new SimChip();
  Rv32Asm a;
  a.Word(0x13);
  GetParam().program(a);
  a.Halt();
  const Status status = chip.Run(a);
  ASSERT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
  ASSERT_TRUE(chip.chip().fault().has_value());
  const sim::Fault& fault = *chip.chip().fault();
  EXPECT_EQ(fault.kind, GetParam().kind) << status.ToString();
  EXPECT_EQ(fault.translated, kTile);
  EXPECT_EQ(fault.hart, hw::kBrisc);
  EXPECT_GE(fault.pc, 4u);
  const std::string message(StatusMessage(status));
  for (const std::string& part :
       {std::string(sim::FaultKindName(fault.kind)), std::string("tile (1,2)"),
        std::string("BRISC"), fmt::format("pc {:#x}", fault.pc),
        fmt::format("address {:#x}", fault.address)}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  // Reported once by Advance, and kept until the chip is reset.
  const uint64_t retired = chip.hart(kTile, hw::kBrisc).retired;
  EXPECT_TRUE(chip.device().Advance(1000).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).retired, retired);
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).state, sim::HartState::kFaulted);
  EXPECT_TRUE(chip.chip().fault().has_value());
  chip.Reset();
  EXPECT_FALSE(chip.chip().fault().has_value());
}

const Refused kInstructions[] = {
    {"zero_word", FaultKind::kTensixInstruction, Instruction(0)},
    {"compressed_encoding", FaultKind::kTensixInstruction, Instruction(0x4501)},
    {"no_such_opcode", FaultKind::kIllegalInstruction, Instruction(0xFFFFFFFF)},
    {"float_load", FaultKind::kIllegalInstruction, Instruction(0x00052507)},
    {"slli_by_32", FaultKind::kIllegalInstruction, Instruction(0x02051513)},
    {"fence_i", FaultKind::kUnsupportedInstruction, Instruction(0x0000100F)},
    {"fence_w_w", FaultKind::kUnsupportedInstruction, Instruction(0x0110000F)},
    {"fence_tso", FaultKind::kUnsupportedInstruction, Instruction(0x8330000F)},
    {"pause", FaultKind::kUnsupportedInstruction, Instruction(0x0100000F)},
    {"lr", FaultKind::kUnsupportedInstruction, Instruction(0x100525AF)},
    {"sc", FaultKind::kUnsupportedInstruction, Instruction(0x18B525AF)},
    {"ecall", FaultKind::kUnsupportedInstruction, Instruction(0x00000073)},
    {"ebreak", FaultKind::kUnsupportedInstruction, Instruction(0x00100073)},
    {"wfi", FaultKind::kUnsupportedInstruction, Instruction(0x10500073)},
    {"mret", FaultKind::kIllegalInstruction, Instruction(0x30200073)},
    {"rdcycle", FaultKind::kUnsupportedCsr, Instruction(0xC0002573)},
    {"mhartid", FaultKind::kUnsupportedCsr, Instruction(0xF1402573)},
    {"cfg0_bit_0", FaultKind::kUnsupportedCsr, Instruction(0x7C00D073)},
    {"jump_to_local_ram", FaultKind::kInstructionFetch,
     [](Rv32Asm& a) {
       a.Li(kT0, hw::kLocalRamAddress);
       a.Jalr(kRa, kT0, 0);
     }},
    {"jump_to_half_word", FaultKind::kInstructionFetch,
     [](Rv32Asm& a) {
       a.Li(kT0, 0x102);
       a.Jalr(kRa, kT0, 0);
     }},
    {"jump_behind_l1", FaultKind::kInstructionFetch,
     [](Rv32Asm& a) {
       a.Li(kT0, hw::kL1Bytes);
       a.Jalr(kRa, kT0, 0);
     }},
    {"branch_to_half_word", FaultKind::kInstructionFetch, Instruction(0x00000163)},
    {"jump_before_l1", FaultKind::kInstructionFetch, Instruction(0x800FF06F)},
};

const Refused kMemory[] = {
    {"lw_unaligned", FaultKind::kMisaligned, Load(kLw, kL1 + 2)},
    {"lh_unaligned", FaultKind::kMisaligned, Load(kLh, kL1 + 1)},
    {"lhu_unaligned", FaultKind::kMisaligned, Load(kLhu, kL1 + 3)},
    {"sw_unaligned", FaultKind::kMisaligned, Store(kSw, kL1 + 1)},
    {"sh_unaligned", FaultKind::kMisaligned, Store(kSh, kL1 + 1)},
    {"local_unaligned", FaultKind::kMisaligned, Store(kSw, hw::kLocalRamAddress + 2)},
    {"load_behind_l1", FaultKind::kUnmapped, Load(kLw, hw::kL1Bytes)},
    {"store_behind_l1", FaultKind::kUnmapped, Store(kSb, hw::kL1Bytes)},
    {"load_nowhere", FaultKind::kUnmapped, Load(kLb, 0x80000000)},
    {"behind_local_ram", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kLocalRamAddress + hw::kLocalRamBytesBrisc)},
    {"local_ram_alias", FaultKind::kUnsupportedRegister, Load(kLw, 0xFFB14000)},
    {"amo_on_local_ram", FaultKind::kUnmapped,
     [](Rv32Asm& a) {
       a.Li(kS0, hw::kLocalRamAddress);
       a.AmoAdd(kA0, kS0, kA1);
     }},
    {"amo_unaligned", FaultKind::kMisaligned,
     [](Rv32Asm& a) {
       a.Li(kS0, kL1 + 2);
       a.AmoAdd(kA0, kS0, kA1);
     }},
    {"byte_register_load", FaultKind::kRegisterWidth, Load(kLb, hw::kSoftReset0)},
    {"half_register_store", FaultKind::kRegisterWidth, Store(kSh, hw::kNiuAddress)},
    {"unaligned_register", FaultKind::kMisaligned, Load(kLw, hw::kSoftReset0 + 2)},
    {"unknown_debug_register", FaultKind::kUnsupportedRegister, Load(kLw, 0xFFB12000)},
    {"disable_reset", FaultKind::kUnsupportedRegister, Store(kSw, 0xFFB12224)},
    {"tensix_gpr", FaultKind::kUnsupportedRegister, Store(kSw, 0xFFE00000)},
    {"instruction_push", FaultKind::kTensixInstruction, Store(kSw, 0xFFE40000)},
    {"thread_of_a_trisc", FaultKind::kUnsupportedRegister, Store(kSw, 0xFFE70000)},
    {"mailbox", FaultKind::kUnsupportedRegister, Load(kLw, 0xFFEC0000)},
    {"tensix_config", FaultKind::kUnsupportedValue, Store(kSw, 0xFFEF0000, 0x10)},
    {"read_icache_mask", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kInstructionCacheInvalidate)},
    {"tensix_config_elsewhere", FaultKind::kUnsupportedRegister, Load(kLw, hw::kTensixConfig + 16)},
    {"read_clock_gate", FaultKind::kUnsupportedRegister, Load(kLw, hw::kTdmaClockGateEnable)},
    {"read_ncrisc_pc", FaultKind::kUnsupportedRegister, Load(kLw, hw::kNcriscResetPc)},
    {"write_wall_clock", FaultKind::kUnsupportedRegister, Store(kSw, hw::kWallClockLow)},
    {"write_pc_snapshot", FaultKind::kUnsupportedRegister, Store(kSw, hw::kPcSnapshot)},
    {"soft_reset_of_packers", FaultKind::kUnsupportedValue, Store(kSw, hw::kSoftReset0, 0x4)},
    {"icache_mask", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kInstructionCacheInvalidate, 0x20)},
    {"reset_pc_unaligned", FaultKind::kUnsupportedValue, Store(kSw, hw::kTriscResetPc, 0x6002)},
    {"reset_pc_behind_l1", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kNcriscResetPc, hw::kL1Bytes)},
    {"reset_pc_override_bits", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kTriscResetPcOverride, 8)},
};

const Refused kStreamsAndNiu[] = {
    {"stream_scratch", FaultKind::kUnsupportedRegister, Load(kLw, hw::StreamRegister(0, 208 * 4))},
    {"stream_update_read", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::StreamRegister(1, hw::kStreamSpaceAvailableUpdate))},
    {"stream_space_write", FaultKind::kUnsupportedRegister,
     Store(kSw, hw::StreamRegister(1, hw::kStreamSpaceAvailable))},
    {"stream_source_past_24_bits", FaultKind::kUnsupportedValue,
     Store(kSw, hw::StreamRegister(1, hw::kStreamRemoteSource), 1u << 24)},
    {"stream_update_low_bits", FaultKind::kUnsupportedValue,
     Store(kSw, hw::StreamRegister(1, hw::kStreamSpaceAvailableUpdate), 1)},
    {"stream_64", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::StreamRegister(64, hw::kStreamSpaceAvailable))},
    {"counter_read_requests_sent", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kNiuAddress + hw::kNocStatus + 4 * 5)},
    {"counter_commands_accepted", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kNiuAddress + hw::kNocStatus + 4 * 4)},
    {"counter_slave_side", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kNiuAddress + hw::kNocStatus + 4 * 0x33)},
    {"counter_write", FaultKind::kUnsupportedRegister,
     Store(kSw, hw::kNiuAddress + hw::kNocStatus)},
    {"endpoint_id", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kNiuAddress + hw::kNocEndpointId)},
    {"node_id_write", FaultKind::kUnsupportedRegister,
     Store(kSw, hw::kNiuAddress + hw::kNocNodeId)},
    {"node_id_in_buffer_1", FaultKind::kUnsupportedRegister,
     Load(kLw, hw::kNiuAddress + hw::kNiuCommandBufferStride + hw::kNocNodeId)},
    {"byte_enables", FaultKind::kUnsupportedRegister,
     Store(kSw, hw::kNiuAddress + hw::kNocByteEnable1)},
    {"accumulate_register", FaultKind::kUnsupportedRegister,
     Store(kSw, hw::kNiuAddress + hw::kNocL1Accumulate)},
    {"broadcast_exclude", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kNiuAddress + hw::kNocBroadcastExclude, 1)},
    {"command_2", FaultKind::kUnsupportedValue, Store(kSw, hw::kNiuAddress + hw::kNocCommand, 2)},
    {"clear_some", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kNiuAddress + hw::kNocClearOutstanding, 1)},
    {"translation_off", FaultKind::kUnsupportedValue,
     Store(kSw, hw::kNiuAddress + hw::kNocConfig0, 1)},
    {"niu_2", FaultKind::kUnsupportedRegister, Load(kLw, hw::kNiuAddress + 2 * hw::kNiuStride)},
};

const NocFields kRead = NocRead(kTile, kOther, kL1, kL1, 64);
const NocFields kDramRead = NocRead(kTile, kDram, 0, kL1, 64);
const NocFields kWrite = NocWrite(kTile, kL1, kOther, kL1, 64);
const NocFields kInlineWrite =
    NocInline(kTile, kOther, hw::StreamRegister(0, hw::kStreamSpaceAvailableUpdate), 64);
const NocFields kAtomic = NocIncrement(kTile, kOther, kL1, 1, kL1);
const NocFields kCast = NocMulticast(kTile, kL1, {1, 2}, {3, 4}, kL1, 64);

Refused Changed(const char* name, FaultKind kind, const NocFields& fields,
                const std::function<void(NocFields&)>& change) {
  return {name, kind, Noc(With(fields, change))};
}

const Refused kNoc[] = {
    Changed("length_0", FaultKind::kNocLength, kRead, [](auto& f) { f.length = 0; }),
    Changed("length_16385", FaultKind::kNocLength, kWrite, [](auto& f) { f.length = 16385; }),
    Changed("l1_to_l1_unequal", FaultKind::kNocAlignment, kRead, [](auto& f) { f.ret += 4; }),
    Changed("write_unequal", FaultKind::kNocAlignment, kWrite, [](auto& f) { f.ret += 8; }),
    Changed("dram_read_modulo_64", FaultKind::kNocAlignment, kDramRead,
            [](auto& f) { f.target = 16; }),
    Changed("host_read_modulo_64", FaultKind::kNocAlignment, kDramRead,
            [](auto& f) {
              f.target_xy = Xy(hw::kPcieTranslated);
              f.target = hw::kHostMemoryNocBase + 32;
            }),
    Changed("dram_write_modulo_16", FaultKind::kNocAlignment, kWrite,
            [](auto& f) {
              f.return_xy = Xy(kDram);
              f.ret = 8;
            }),
    Changed("multicast_unequal", FaultKind::kNocAlignment, kCast, [](auto& f) { f.ret += 4; }),
    Changed("read_without_response", FaultKind::kNocControl, kRead,
            [](auto& f) { f.control &= ~hw::kNocResponse; }),
    Changed("write_byte_enable", FaultKind::kNocControl, kWrite,
            [](auto& f) { f.control |= hw::kNocByteEnable; }),
    Changed("drop_ack", FaultKind::kNocControl, kRead,
            [](auto& f) { f.control |= hw::kNocDropReadAck; }),
    Changed("major_axis", FaultKind::kNocControl, kCast,
            [](auto& f) { f.control |= hw::kNocMajorAxis; }),
    Changed("priority", FaultKind::kNocControl, kWrite,
            [](auto& f) { f.control |= 1u << hw::kNocPriorityShift; }),
    Changed("accumulate", FaultKind::kNocControl, kWrite,
            [](auto& f) { f.control |= hw::kNocAccumulate; }),
    Changed("unicast_on_a_multicast_channel", FaultKind::kNocControl, kInlineWrite,
            [](auto& f) { f.control |= 4u << hw::kNocVcShift; }),
    Changed("multicast_on_a_unicast_channel", FaultKind::kNocControl, kCast,
            [](auto& f) { f.control ^= 4u << hw::kNocVcShift; }),
    Changed("channel_6", FaultKind::kNocControl, kCast,
            [](auto& f) { f.control |= 6u << hw::kNocVcShift; }),
    Changed("inline_read", FaultKind::kNocControl, kRead,
            [](auto& f) { f.control |= hw::kNocInline; }),
    Changed("atomic_write", FaultKind::kNocControl, kAtomic,
            [](auto& f) { f.control |= hw::kNocWrite; }),
    Changed("tag_bits", FaultKind::kNocControl, kWrite, [](auto& f) { f.tag = 0x40; }),
    Changed("local_side_elsewhere", FaultKind::kNocLocalSide, kRead,
            [](auto& f) { f.return_xy = Xy(kOther); }),
    Changed("local_side_of_inline", FaultKind::kNocLocalSide, kInlineWrite,
            [](auto& f) { f.return_xy = Xy(kOther); }),
    Changed("local_side_leaves_l1", FaultKind::kNocLocalSide, kRead,
            [](auto& f) { f.ret = hw::kL1Bytes - 16; }),
    Changed("local_side_register", FaultKind::kNocLocalSide, kWrite,
            [](auto& f) { f.target = hw::kNiuAddress; }),
    Changed("remote_leaves_l1", FaultKind::kUnmapped, kWrite,
            [](auto& f) { f.ret = hw::kL1Bytes - 32; }),
    Changed("remote_behind_dram", FaultKind::kUnmapped, kDramRead,
            [](auto& f) { f.target = hw::kDramBankBytes; }),
    Changed("column_8", FaultKind::kNoSuchTile, kWrite,
            [](auto& f) { f.return_xy = hw::NocXy(8, 2); }),
    Changed("off_the_grid", FaultKind::kNoSuchTile, kWrite,
            [](auto& f) { f.return_xy = hw::NocXy(40, 40); }),
    Changed("second_pcie_tile", FaultKind::kNoSuchTile, kDramRead,
            [](auto& f) { f.target_xy = Xy(hw::kPciePhysical[1]); }),
    Changed("behind_ethernet", FaultKind::kNoSuchTile, kRead,
            [](auto& f) { f.target_xy = hw::NocXy(32, 25); }),
    Changed("inline_to_l1", FaultKind::kNocInlineToMemory, kInlineWrite,
            [](auto& f) { f.target = kL1; }),
    Changed("inline_to_dram", FaultKind::kNocInlineToMemory, kInlineWrite,
            [](auto& f) {
              f.target_xy = Xy(kDram);
              f.target = 0;
            }),
    Changed("inline_to_host", FaultKind::kNocInlineToMemory, kInlineWrite,
            [](auto& f) {
              f.target_xy = Xy(hw::kPcieTranslated);
              f.target = hw::kHostMemoryNocBase;
            }),
    Changed("inline_unaligned", FaultKind::kRegisterWidth, kInlineWrite,
            [](auto& f) { f.target += 2; }),
    Changed("register_read_of_8", FaultKind::kRegisterWidth, kRead,
            [](auto& f) {
              f.target = hw::StreamRegister(0, hw::kStreamSpaceAvailable);
              f.length = 8;
            }),
    Changed("posted_atomic", FaultKind::kNocAtomic, kAtomic,
            [](auto& f) { f.control &= ~hw::kNocResponse; }),
    Changed("other_atomic", FaultKind::kNocAtomic, kAtomic, [](auto& f) { f.length = 0x3000; }),
    Changed("atomic_not_16_aligned", FaultKind::kNocAtomic, kAtomic,
            [](auto& f) { f.target += 4; }),
    Changed("atomic_on_dram", FaultKind::kNocAtomic, kAtomic,
            [](auto& f) {
              f.target_xy = Xy(kDram);
              f.target = 0;
            }),
    Changed("atomic_on_register", FaultKind::kNocAtomic, kAtomic,
            [](auto& f) { f.target = hw::StreamRegister(0, hw::kStreamBufferSize); }),
    Changed("atomic_slot_unaligned", FaultKind::kNocAtomic, kAtomic, [](auto& f) { f.ret += 2; }),
    Changed("multicast_read", FaultKind::kNocMulticast, kRead,
            [](auto& f) { f.control |= hw::kNocMulticast | hw::kNocPathReserve; }),
    Changed("multicast_inline", FaultKind::kNocMulticast, kInlineWrite,
            [](auto& f) { f.control |= hw::kNocMulticast | hw::kNocPathReserve; }),
    Changed("multicast_atomic", FaultKind::kNocMulticast, kAtomic,
            [](auto& f) { f.control |= hw::kNocMulticast | hw::kNocPathReserve; }),
    Changed("multicast_without_path", FaultKind::kNocMulticast, kCast,
            [](auto& f) { f.control &= ~hw::kNocPathReserve; }),
    Changed("unicast_with_path", FaultKind::kNocMulticast, kWrite,
            [](auto& f) { f.control |= hw::kNocPathReserve; }),
    Changed("unicast_include_source", FaultKind::kNocMulticast, kWrite,
            [](auto& f) { f.control |= hw::kNocIncludeSource; }),
    Changed("rectangle_wraps_on_noc_0", FaultKind::kNocMulticast, kCast,
            [](auto& f) {
              f.return_xy = hw::NocRectangle(Xy({3, 4}), Xy({1, 2}));
            }),
    Changed("rectangle_forwards_on_noc_1", FaultKind::kNocMulticast, kCast,
            [](auto& f) { f.niu = 1; }),
    Changed("rectangle_of_nobody", FaultKind::kNocMulticast, kCast,
            [](auto& f) { f.return_xy = hw::NocRectangle(Xy(kTile), Xy(kTile)); }),
    Changed("rectangle_reaches_dram", FaultKind::kNocMulticast, kCast,
            [](auto& f) {
              f.return_xy = hw::NocRectangle(Xy({16, 2}), Xy({17, 12}));
            }),
    Changed("host_memory_not_mapped", FaultKind::kHostMemory, kDramRead,
            [](auto& f) {
              f.target_xy = Xy(hw::kPcieTranslated);
              f.target = hw::kHostMemoryNocBase;
            }),
    Changed("host_window_8", FaultKind::kHostMemory, kDramRead,
            [](auto& f) {
              f.target_xy = Xy(hw::kPcieTranslated);
              f.target = uint64_t{8} << 58;
            }),
    Changed("command_by_noc", FaultKind::kUnsupportedRegister, kInlineWrite,
            [](auto& f) {
              f.target = hw::kNiuAddress + hw::kNocCommand;
              f.data = 1;
            }),
    Changed("register_read_to_no_word", FaultKind::kNocAlignment,
            NocRead(kTile, {2, 3}, hw::StreamRegister(1, hw::kStreamBufferSize), kL1 + 2, 4),
            [](auto&) {}),
    Changed("arc_telemetry_write", FaultKind::kUnsupportedRegister,
            NocWrite(kTile, kL1, hw::kArc, hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus, 4),
            [](auto&) {}),
};

std::string NameOf(const testing::TestParamInfo<Refused>& info) { return info.param.name; }
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

INSTANTIATE_TEST_SUITE_P(Instructions, Refusals, testing::ValuesIn(kInstructions), NameOf);
INSTANTIATE_TEST_SUITE_P(Memory, Refusals, testing::ValuesIn(kMemory), NameOf);
INSTANTIATE_TEST_SUITE_P(Registers, Refusals, testing::ValuesIn(kStreamsAndNiu), NameOf);
INSTANTIATE_TEST_SUITE_P(Noc, Refusals, testing::ValuesIn(kNoc), NameOf);

TEST(RefusalsOfNcrisc, TensixConfigurationIsOutOfItsReach) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kS0, hw::kInstructionCacheInvalidate);
  a.Li(kA0, hw::kInstructionCacheAll);
  a.Sw(kA0, kS0, 0);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());  // BRISC may
  chip.Reset();
  Rv32Asm read;
  read.Li(kS0, hw::kTensixConfig);
  read.Lw(kA0, kS0, 0);
  read.Halt();
  ASSERT_TRUE(chip.Run(read).ok());
  chip.Reset();
  chip.Load(SimChip::kTile, hw::kNcriscDefaultPc, read);
  chip.Start(SimChip::kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetNcrisc);
  EXPECT_FALSE(chip.device().Advance(100).ok());
  EXPECT_EQ(chip.chip().fault()->address, hw::kTensixConfig);
  chip.Reset();
  chip.Load(SimChip::kTile, hw::kNcriscDefaultPc, a);
  chip.Start(SimChip::kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetNcrisc);
  EXPECT_FALSE(chip.device().Advance(100).ok());
  EXPECT_EQ(chip.chip().fault()->kind, FaultKind::kUnsupportedRegister);
  EXPECT_EQ(chip.chip().fault()->hart, hw::kNcrisc);
}

TEST(RefusalsOfTriscs, TheirLocalRamHasFourKilobytes) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kS0, hw::kLocalRamAddress + hw::kLocalRamBytesTrisc);
  a.Sw(kA0, kS0, -4);
  a.Sw(kA0, kS0, 0);
  chip.Load(SimChip::kTile, hw::kTriscDefaultPc[1], a);
  chip.Start(SimChip::kTile, hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc1);
  EXPECT_FALSE(chip.device().Advance(100).ok());
  EXPECT_EQ(chip.chip().fault()->hart, hw::kTrisc1);
  EXPECT_EQ(chip.chip().fault()->address, hw::kLocalRamAddress + hw::kLocalRamBytesTrisc);
}

TEST(RefusalsOfTheHost, AnswerTheCallAndLeaveTheChipAlone) {
  SimChip chip;
  Rv32Asm a;
  const Rv32Asm::Label loop = a.Here();
  a.Addi(kA0, kA0, 1);
  a.Jump(loop);
  ASSERT_TRUE(chip.Run(a, 100).ok());
  const uint32_t word = 0;
  const uint64_t twice = 0;
  const auto refused = [&](hw::Coordinate tile, uint64_t address, ByteSpan bytes) {
    const Status status = chip.Write(tile, address, bytes);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
  };
  refused(kTile, hw::kSoftReset0, BytesOf(twice));
  refused(kTile, hw::kSoftReset0 + 2, BytesOf(word));
  refused(kTile, hw::kSoftReset0, BytesOf(word).first(2));
  refused(kTile, hw::kL1Bytes - 2, BytesOf(word));
  refused(kTile, hw::kInstructionCacheInvalidate, BytesOf(word));
  refused(kTile, hw::kNiuAddress + hw::kNocCommand, BytesOf(1u));
  refused(kTile, hw::kLocalRamAddress, BytesOf(word));
  refused({8, 5}, 0, BytesOf(word));
  refused(kDram, hw::kDramBankBytes, BytesOf(word));
  refused(hw::kArc, 0, BytesOf(word));
  const uint32_t before = chip.hart(kTile, hw::kBrisc).x[kA0];
  EXPECT_TRUE(chip.device().Advance(100).ok());
  EXPECT_GT(chip.hart(kTile, hw::kBrisc).x[kA0], before);
}

}  // namespace
}  // namespace ttfd::refusal_test
