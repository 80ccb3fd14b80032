// Rows, columns and formats of Dst as lanes see them.
#include "runtime/sim/tensix/lane_access.h"

#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

// Modes of SFPLOAD and SFPSTORE.
constexpr uint32_t kAsConfigured = 0;
constexpr uint32_t kAsBFloat16 = 2;
constexpr uint32_t kAsFloat32 = 3;
constexpr uint32_t kAsInteger = 4;
constexpr uint32_t kAsTwosComplement = 12;  // the same bits as kAsInteger on Blackhole

constexpr const char* kModes = "modelled are bfloat16 (2), float32 (3) and 32-bit integers (4, 12)";

bool IsModelledMode(uint32_t mode) {
  return mode == kAsBFloat16 || mode == kAsFloat32 || mode == kAsInteger ||
         mode == kAsTwosComplement;
}

uint32_t FlushDenormal(uint32_t bits) { return ExponentOf(bits) == 0 ? bits & kSignBit32 : bits; }

// Lanes hold four rows of Dst, eight lanes a row: the even columns of it, or the odd ones.
constexpr uint32_t kRowsOfVector = 4;
constexpr uint32_t kLanesOfRow = kLanes / kRowsOfVector;

template <bool kIs32Bit>
void LoadRow(DstBlock from, uint32_t odd, uint32_t* lanes) {
  for (uint32_t i = 0; i < kLanesOfRow; ++i) {
    const uint32_t column = 2 * i + odd;
    lanes[i] = uint32_t{from.high[0][column]} << 16 | (kIs32Bit ? from.low[0][column] : 0);
  }
}

template <bool kIs32Bit>
void StoreRow(DstBlock to, uint32_t odd, const uint32_t* lanes, const uint32_t* active) {
  for (uint32_t i = 0; i < kLanesOfRow; ++i) {
    if (active[i] == 0) continue;
    const uint32_t column = 2 * i + odd;
    to.high[0][column] = static_cast<uint16_t>(lanes[i] >> 16);
    if (kIs32Bit) to.low[0][column] = static_cast<uint16_t>(lanes[i]);
  }
}

}  // namespace

uint32_t LaneAccess::ConfiguredMode() const {
  if (config_[isa::kAluFloat32Sfpu] != 0) return kAsFloat32;
  return config_.format(isa::kAluSrcBFormat) == isa::Format::kFloat16B ? kAsBFloat16
                                                                       : kAsConfigured;
}

template <typename Instruction>
Outcome LaneAccess::FindRow(uint32_t thread, Instruction instruction, uint32_t* row) {
  const uint32_t address = instruction.dest_reg_addr();
  *row = rows_.Dst(thread, address);
  if (address % 2 != 0 || *row % 2 != 0) {
    return report_.Refuse("dest_reg_addr", "the row (address + counter + offset) is even");
  }
  return rows_.CheckModifier(thread, instruction.addr_mode());
}

Outcome LaneAccess::Load(uint32_t thread, isa::SFPLOAD instruction) {
  uint32_t mode = instruction.instr_mod();
  if (mode == kAsConfigured) mode = ConfiguredMode();
  if (!IsModelledMode(mode)) return report_.Refuse("instr_mod", kModes);
  const uint32_t to = instruction.lreg();
  if (to >= 12) return report_.Refuse("lreg", "it is below 12");
  uint32_t row = 0;
  if (FindRow(thread, instruction, &row) != Outcome::kDone) return Outcome::kRefused;
  if (to < kGeneralRegisters) {  // a load of a constant is none
    const bool is_32_bit = mode != kAsBFloat16;
    const uint32_t odd = row >> 1 & 1;
    Lanes value;
    for (uint32_t i = 0; i < kRowsOfVector; ++i) {
      const DstBlock from = dst_.Read((row & ~3u) + i, is_32_bit);
      uint32_t* const lanes = &value[i * kLanesOfRow];
      is_32_bit ? LoadRow<true>(from, odd, lanes) : LoadRow<false>(from, odd, lanes);
    }
    registers_.Write(to, [&](uint32_t lane) { return value[lane]; });
  }
  rows_.AdvanceRows(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome LaneAccess::Store(uint32_t thread, isa::SFPSTORE instruction) {
  uint32_t mode = instruction.instr_mod();
  if (mode == kAsConfigured) mode = ConfiguredMode();
  if (!IsModelledMode(mode)) return report_.Refuse("instr_mod", kModes);
  const uint32_t from = instruction.lreg();
  if (from >= 12) return report_.Refuse("lreg", "it is below 12");
  uint32_t row = 0;
  if (FindRow(thread, instruction, &row) != Outcome::kDone) return Outcome::kRefused;
  const bool is_32_bit = mode != kAsBFloat16;
  const uint32_t odd = row >> 1 & 1;
  const Lanes& active = registers_.conditions().active();
  Lanes value = registers_[from];
  if (mode == kAsBFloat16 || mode == kAsFloat32) {
    for (uint32_t& bits : value) bits = FlushDenormal(bits);
  }
  for (uint32_t i = 0; i < kRowsOfVector; ++i) {
    const uint32_t lane = i * kLanesOfRow;
    uint32_t any = 0;
    for (uint32_t k = 0; k < kLanesOfRow; ++k) any |= active[lane + k];
    if (any == 0) continue;
    const DstBlock to = dst_.Part((row & ~3u) + i, is_32_bit);
    is_32_bit ? StoreRow<true>(to, odd, &value[lane], &active[lane])
              : StoreRow<false>(to, odd, &value[lane], &active[lane]);
  }
  rows_.AdvanceRows(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome LaneAccess::LoadImmediate(isa::SFPLOADI instruction) {
  const uint32_t value = instruction.imm16();
  const uint32_t to = instruction.lreg();
  switch (instruction.instr_mod()) {
    case 0:  // bfloat16
      return registers_.Write(to, [=](uint32_t) { return value << 16; });
    case 1:  // binary16, without its zero
      return registers_.Write(to, [=](uint32_t) {
        return (value & 0x8000) << 16 | ((value >> 10 & 31) + 112) << 23 | (value & 0x3FF) << 13;
      });
    case 2:  // unsigned
      return registers_.Write(to, [=](uint32_t) { return value; });
    case 4:  // signed
      return registers_.Write(to, [=](uint32_t) { return (value ^ 0x8000) - 0x8000; });
    case 8:  // the high half
      return registers_.Write(
          to, [=, this](uint32_t lane) { return value << 16 | (registers_[to][lane] & 0xFFFF); });
    case 10:  // the low half
      return registers_.Write(
          to, [=, this](uint32_t lane) { return value | (registers_[to][lane] & 0xFFFF0000); });
    default:
      return report_.Refuse("instr_mod", "modelled are 0, 1, 2, 4, 8 and 10");
  }
}

}  // namespace ttfd::sim::tensix
