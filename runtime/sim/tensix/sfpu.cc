// Instructions of the vector unit.
#include "runtime/sim/tensix/sfpu.h"

#include <algorithm>
#include <bit>

#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kGeneralRegisters = 8;
constexpr uint32_t kZeroRegister = 9;
constexpr uint32_t kOneRegister = 10;
constexpr uint32_t kOne = 0x3F800000;
constexpr uint32_t kTwo = 0x40000000;
constexpr uint32_t kThree = 0x40400000;

// Registers 8 to 14, after a reset; 15 holds twice the lane's number.
constexpr uint32_t kConstants[] = {0x3F56594B, 0,          kOne,      0xBF800000,
                                   0x3B000000, 0xBF2CC4C7, 0xBEB08FF9};

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

uint32_t SignExtend12(uint32_t value) { return (value ^ 0x800) - 0x800; }

uint32_t MaskIf(bool condition) { return condition ? ~0u : 0; }

uint32_t FlushDenormal(uint32_t bits) { return ExponentOf(bits) == 0 ? bits & kSignBit32 : bits; }

// Coefficients of SFPLUT: sign, three bits of a negative exponent, four of mantissa; 0xFF is 0.
uint32_t Coefficient8(uint32_t byte) {
  if (byte == 0xFF) return 0;
  return (byte >> 7) << 31 | (127 - (byte >> 4 & 7)) << 23 | (byte & 15) << 19;
}

// Coefficients of SFPLUTFP32: binary16, where exponent 31 stands for 0.
uint32_t Coefficient16(uint32_t half) {
  const uint32_t exponent = half >> 10 & 31;
  const uint32_t exponent32 = exponent == 31 ? 0 : exponent + 112;
  return (half & 0x8000) << 16 | exponent32 << 23 | (half & 0x3FF) << 13;
}

uint32_t ShiftSigned(uint32_t value, int32_t amount, bool arithmetic) {
  if (amount >= 0) return value << (amount & 31);
  const uint32_t distance = static_cast<uint32_t>(-amount) & 31;
  return arithmetic ? static_cast<uint32_t>(static_cast<int32_t>(value) >> distance)
                    : value >> distance;
}

// A lane's row and column of Dst: four rows, of which the even or the odd columns.
struct LanePlace {
  uint32_t row;
  uint32_t column;
};
LanePlace PlaceOf(uint32_t row, uint32_t lane) {
  return {(row & ~3u) + lane / 8, 2 * (lane % 8) + (row >> 1 & 1)};
}

}  // namespace

LaneConditions::LaneConditions() { Reset(true, true); }

void LaneConditions::Apply() {
  if (enabled_) {
    active_ = codes_;
  } else {
    active_.fill(~0u);
  }
}

void LaneConditions::Set(const Lanes& condition) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (active_[lane] != 0) codes_[lane] = MaskIf(condition[lane] != 0);
  }
  Apply();
}

void LaneConditions::Reset(bool value, bool enabled) {
  codes_.fill(MaskIf(value));
  enabled_ = enabled;
  Apply();
}

bool LaneConditions::Push() {
  if (depth_ == stack_.size()) return false;
  stack_[depth_++] = {enabled_, codes_};
  return true;
}

bool LaneConditions::Pop() {
  if (depth_ == 0) return false;
  const State& state = stack_[--depth_];
  enabled_ = state.enabled;
  codes_ = state.codes;
  Apply();
  return true;
}

bool LaneConditions::Complement() {
  if (!enabled_ || (depth_ != 0 && !stack_[depth_ - 1].enabled)) return false;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t outer = depth_ == 0 ? ~0u : stack_[depth_ - 1].codes[lane];
    codes_[lane] = outer & ~codes_[lane];
  }
  Apply();
  return true;
}

Sfpu::Sfpu(const Config& config, ThreadRows& rows, Dst& dst, Report& report)
    : config_(config), rows_(rows), dst_(dst), report_(report) {
  for (uint32_t i = 0; i < std::size(kConstants); ++i) {
    registers_[kGeneralRegisters + i].fill(kConstants[i]);
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) registers_[15][lane] = 2 * lane;
}

template <typename Function>
Outcome Sfpu::Write(uint32_t dest, Function&& f) {
  if (dest >= kGeneralRegisters) {
    return report_.Refuse("lreg_dest", "an instruction writes registers 0 to 7");
  }
  Lanes result;
  for (uint32_t lane = 0; lane < kLanes; ++lane) result[lane] = f(lane);
  const Lanes& active = conditions_.active();
  Lanes& to = registers_[dest];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    to[lane] = (result[lane] & active[lane]) | (to[lane] & ~active[lane]);
  }
  return Outcome::kDone;
}

Outcome Sfpu::Execute(uint32_t thread, uint32_t instruction) {
  switch (isa::OpcodeOf(instruction)) {
    case isa::SFPLOAD::kOpcode:
      return Load(thread, {instruction});
    case isa::SFPSTORE::kOpcode:
      return Store(thread, {instruction});
    case isa::SFPLOADI::kOpcode:
      return LoadImmediate({instruction});
    case isa::SFPMAD::kOpcode:
    case isa::SFPADD::kOpcode:
    case isa::SFPMUL::kOpcode:
    case isa::SFPMULI::kOpcode:
    case isa::SFPADDI::kOpcode:
    case isa::SFPMUL24::kOpcode:
      return MultiplyAddLanes(instruction);
    case isa::SFPIADD::kOpcode:
      return AddInteger({instruction});
    case isa::SFPSHFT::kOpcode:
      return Shift({instruction});
    case isa::SFPSHFT2::kOpcode:
      return ShiftBy({instruction});
    case isa::SFPSETCC::kOpcode:
      return SetCondition({instruction});
    case isa::SFPEXEXP::kOpcode:
      return ExtractExponent({instruction});
    case isa::SFPLZ::kOpcode:
      return CountLeadingZeros({instruction});
    case isa::SFPLE::kOpcode:
    case isa::SFPGT::kOpcode:
      return Compare(instruction);
    case isa::SFPSWAP::kOpcode:
      return Swap({instruction});
    case isa::SFP_STOCH_RND::kOpcode:
      return Round({instruction});
    case isa::SFPLUT::kOpcode:
      return LookUp({instruction});
    case isa::SFPLUTFP32::kOpcode:
      return LookUpFloat({instruction});
    case isa::SFPAND::kOpcode:
    case isa::SFPOR::kOpcode:
    case isa::SFPXOR::kOpcode:
    case isa::SFPNOT::kOpcode:
    case isa::SFPMOV::kOpcode:
      return Logic(instruction);
    case isa::SFPDIVP2::kOpcode:
    case isa::SFPEXMAN::kOpcode:
    case isa::SFPABS::kOpcode:
    case isa::SFPSETEXP::kOpcode:
    case isa::SFPSETMAN::kOpcode:
    case isa::SFPSETSGN::kOpcode:
    case isa::SFPCAST::kOpcode:
    case isa::SFPARECIP::kOpcode:
      return ChangeField(instruction);
    case isa::SFPPUSHC::kOpcode:
    case isa::SFPPOPC::kOpcode:
    case isa::SFPCOMPC::kOpcode:
    case isa::SFPENCC::kOpcode:
      return ChangeConditions(instruction);
    case isa::SFPNOP::kOpcode:
      return Outcome::kDone;
    default:
      return report_.Refuse("opcode", "the model does not execute this instruction");
  }
}

uint32_t Sfpu::ConfiguredMode() const {
  if (config_[isa::kAluFloat32Sfpu] != 0) return kAsFloat32;
  return config_.format(isa::kAluSrcBFormat) == isa::Format::kFloat16B ? kAsBFloat16
                                                                       : kAsConfigured;
}

Outcome Sfpu::FindRow(uint32_t thread, uint32_t address, uint32_t* row) {
  *row = rows_.Dst(thread, address);
  if (address % 2 == 0 && *row % 2 == 0) return Outcome::kDone;
  return report_.Refuse("dest_reg_addr", "the row (address + counter + offset) is even");
}

Outcome Sfpu::Load(uint32_t thread, isa::SFPLOAD instruction) {
  uint32_t mode = instruction.instr_mod();
  if (mode == kAsConfigured) mode = ConfiguredMode();
  if (!IsModelledMode(mode)) return report_.Refuse("instr_mod", kModes);
  const uint32_t to = instruction.lreg();
  if (to >= 12) return report_.Refuse("lreg", "it is below 12");
  uint32_t row = 0;
  if (FindRow(thread, instruction.dest_reg_addr(), &row) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (to < kGeneralRegisters) {  // a load of a constant is none
    Write(to, [&](uint32_t lane) {
      const LanePlace at = PlaceOf(row, lane);
      return mode == kAsBFloat16 ? uint32_t{dst_.Read16(at.row, at.column)} << 16
                                 : dst_.Read32(at.row, at.column);
    });
  }
  rows_.AdvanceRows(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Sfpu::Store(uint32_t thread, isa::SFPSTORE instruction) {
  uint32_t mode = instruction.instr_mod();
  if (mode == kAsConfigured) mode = ConfiguredMode();
  if (!IsModelledMode(mode)) return report_.Refuse("instr_mod", kModes);
  const uint32_t from = instruction.lreg();
  if (from >= 12) return report_.Refuse("lreg", "it is below 12");
  uint32_t row = 0;
  if (FindRow(thread, instruction.dest_reg_addr(), &row) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  const bool is_32_bit = mode != kAsBFloat16;
  const DstBlock block = dst_.Block(row & ~3u, 4, is_32_bit);
  const Lanes& active = conditions_.active();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (active[lane] == 0) continue;
    uint32_t bits = registers_[from][lane];
    if (mode == kAsBFloat16 || mode == kAsFloat32) bits = FlushDenormal(bits);
    const LanePlace at = PlaceOf(row & 3, lane);
    block.high[at.row][at.column] = static_cast<uint16_t>(bits >> 16);
    if (is_32_bit) block.low[at.row][at.column] = static_cast<uint16_t>(bits);
  }
  rows_.AdvanceRows(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Sfpu::LoadImmediate(isa::SFPLOADI instruction) {
  const uint32_t value = instruction.imm16();
  const uint32_t to = instruction.lreg();
  switch (instruction.instr_mod()) {
    case 0:  // bfloat16
      return Write(to, [=](uint32_t) { return value << 16; });
    case 1:  // binary16, without its zero
      return Write(to, [=](uint32_t) {
        return (value & 0x8000) << 16 | ((value >> 10 & 31) + 112) << 23 | (value & 0x3FF) << 13;
      });
    case 2:  // unsigned
      return Write(to, [=](uint32_t) { return value; });
    case 4:  // signed
      return Write(to, [=](uint32_t) { return (value ^ 0x8000) - 0x8000; });
    case 8:  // the high half
      return Write(to,
                   [=, this](uint32_t lane) { return value << 16 | (lreg(to)[lane] & 0xFFFF); });
    case 10:  // the low half
      return Write(to, [=, this](uint32_t lane) { return value | (lreg(to)[lane] & 0xFFFF0000); });
    default:
      return report_.Refuse("instr_mod", "modelled are 0, 1, 2, 4, 8 and 10");
  }
}

Outcome Sfpu::MultiplyAddLanes(uint32_t instruction) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  if (opcode == isa::SFPMULI::kOpcode || opcode == isa::SFPADDI::kOpcode) {
    const isa::SFPMULI fields = {instruction};  // SFPADDI has the same
    if (fields.instr_mod() != 0) return report_.Refuse("instr_mod", "it is 0");
    const uint32_t immediate = fields.imm16() << 16;
    const Lanes& d = registers_[fields.lreg_dest()];
    return Write(fields.lreg_dest(), [&](uint32_t lane) {
      return opcode == isa::SFPMULI::kOpcode ? MultiplyAdd(d[lane], immediate, 0)
                                             : MultiplyAdd(immediate, kOne, d[lane]);
    });
  }
  const isa::SFPMAD fields = {instruction};  // SFPADD, SFPMUL and SFPMUL24 have the same
  const uint32_t mode = fields.instr_mod();
  const bool multiplies_only = opcode == isa::SFPMUL::kOpcode || opcode == isa::SFPMUL24::kOpcode;
  if (mode > (multiplies_only ? 1u : 3u)) {
    return report_.Refuse("instr_mod", "bit 0 negates the product, bit 1 the sum's other term");
  }
  if (multiplies_only && fields.lreg_c() != kZeroRegister) {
    return report_.Refuse("lreg_c", "a product takes the constant 0, register 9");
  }
  if (opcode == isa::SFPADD::kOpcode && fields.lreg_a() != kOneRegister &&
      fields.lreg_b() != kOneRegister) {
    return report_.Refuse("lreg_a", "a sum takes the constant 1, register 10, as one factor");
  }
  const Lanes& a = registers_[fields.lreg_a()];
  const Lanes& b = registers_[fields.lreg_b()];
  const Lanes& c = registers_[fields.lreg_c()];
  if (opcode == isa::SFPMUL24::kOpcode) {
    return Write(fields.lreg_dest(), [&](uint32_t lane) {
      const uint64_t product = uint64_t{a[lane] & kMantissa32} * (b[lane] & kMantissa32);
      return static_cast<uint32_t>(mode == 0 ? product & kMantissa32 : product >> 23);
    });
  }
  const uint32_t negate_product = (mode & 1) != 0 ? kSignBit32 : 0;
  const uint32_t negate_addend = (mode & 2) != 0 ? kSignBit32 : 0;
  return Write(fields.lreg_dest(), [&](uint32_t lane) {
    return MultiplyAdd(a[lane] ^ negate_product, b[lane], c[lane] ^ negate_addend);
  });
}

Outcome Sfpu::AddInteger(isa::SFPIADD instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 10 || (mode & 3) == 3) {
    return report_.Refuse("instr_mod", "bits 1:0 are 0 to 2; the whole is at most 10");
  }
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t immediate = SignExtend12(instruction.imm12());
  const uint32_t dest = instruction.lreg_dest();
  Lanes sums{};
  const Outcome outcome = Write(dest, [&](uint32_t lane) {
    const uint32_t d = registers_[dest][lane];
    sums[lane] = (mode & 3) == 0   ? c[lane] + d
                 : (mode & 3) == 1 ? c[lane] + immediate
                                   : c[lane] - d;
    return sums[lane];
  });
  if (outcome != Outcome::kDone || (mode & 12) == 4) return outcome;
  const bool for_positive = (mode & 8) != 0;
  for (uint32_t& sum : sums) sum = MaskIf((sum >> 31 == 0) == for_positive);
  conditions_.Set(sums);
  return Outcome::kDone;
}

Outcome Sfpu::Shift(isa::SFPSHFT instruction) {
  const uint32_t mode = instruction.instr_mod();
  const bool by_immediate = (mode & 1) != 0;
  if (mode > 7 || mode == 4 || mode == 6) {
    return report_.Refuse("instr_mod", "modelled are 0 to 3, 5 and 7");
  }
  if (!by_immediate && instruction.imm12() != 0) {
    return report_.Refuse("imm12", "it is 0 where a register says how far");
  }
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t dest = instruction.lreg_dest();
  const auto immediate = static_cast<int32_t>(SignExtend12(instruction.imm12()));
  return Write(dest, [&](uint32_t lane) {
    const int32_t amount = by_immediate ? immediate : static_cast<int32_t>(c[lane]);
    return ShiftSigned((mode & 4) != 0 ? c[lane] : registers_[dest][lane], amount, (mode & 2) != 0);
  });
}

Outcome Sfpu::ShiftBy(isa::SFPSHFT2 instruction) {
  if (instruction.instr_mod() != 5)
    return report_.Refuse("instr_mod", "the model shifts within lanes: 5");
  if (instruction.imm12() > 15) return report_.Refuse("imm12", "it names a register, 0 to 15");
  const Lanes& value = registers_[instruction.imm12()];
  const Lanes& amount = registers_[instruction.lreg_c()];
  return Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return ShiftSigned(value[lane], static_cast<int32_t>(amount[lane]), false);
  });
}

Outcome Sfpu::SetCondition(isa::SFPSETCC instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 6 || mode % 2 != 0) return report_.Refuse("instr_mod", "modelled are 0, 2, 4 and 6");
  if (instruction.lreg_dest() != 0 || instruction.imm12() != 0) {
    return report_.Refuse("lreg_dest", "lreg_dest and imm12 are 0");
  }
  if (!conditions_.enabled()) {
    return report_.Refuse("condition codes", "they are off; SFPENCC turns them on");
  }
  Lanes condition{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t c = registers_[instruction.lreg_c()][lane];
    const bool negative = c >> 31 != 0;
    condition[lane] = MaskIf(mode == 0   ? negative
                             : mode == 2 ? c != 0
                             : mode == 4 ? !negative
                                         : c == 0);
  }
  conditions_.Set(condition);
  return Outcome::kDone;
}

Outcome Sfpu::ExtractExponent(isa::SFPEXEXP instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 2 && mode != 10) return report_.Refuse("instr_mod", "modelled are 0, 1, 2 and 10");
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t bias = (mode & 1) != 0 ? 0 : 127;
  Lanes exponents{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) exponents[lane] = ExponentOf(c[lane]) - bias;
  const Outcome outcome =
      Write(instruction.lreg_dest(), [&](uint32_t lane) { return exponents[lane]; });
  if (outcome != Outcome::kDone || (mode & 2) == 0) return outcome;
  const bool for_positive = (mode & 8) != 0;
  for (uint32_t& exponent : exponents) exponent = MaskIf((exponent >> 31 == 0) == for_positive);
  conditions_.Set(exponents);
  return Outcome::kDone;
}

Outcome Sfpu::CountLeadingZeros(isa::SFPLZ instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 4 || mode % 2 != 0) return report_.Refuse("instr_mod", "modelled are 0, 2 and 4");
  Lanes source = registers_[instruction.lreg_c()];
  if (mode == 4) {
    for (uint32_t& word : source) word &= ~kSignBit32;
  }
  const Outcome outcome = Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return static_cast<uint32_t>(std::countl_zero(source[lane]));
  });
  if (outcome == Outcome::kDone && mode == 2) conditions_.Set(source);
  return outcome;
}

Outcome Sfpu::Compare(uint32_t instruction) {
  const isa::SFPLE fields = {instruction};  // SFPGT has the same
  const uint32_t mode = fields.instr_mod();
  if (mode != 1 && mode != 8)
    return report_.Refuse("instr_mod", "1 sets condition codes, 8 a register");
  const bool greater = isa::OpcodeOf(instruction) == isa::SFPGT::kOpcode;
  const Lanes& c = registers_[fields.lreg_c()];
  const Lanes& d = registers_[fields.lreg_dest()];
  Lanes result{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    result[lane] = MaskIf((TotalOrder(d[lane]) > TotalOrder(c[lane])) == greater);
  }
  if (fields.lreg_dest() >= kGeneralRegisters) return report_.Refuse("lreg_dest", "it is below 8");
  if (mode == 8) return Write(fields.lreg_dest(), [&](uint32_t lane) { return result[lane]; });
  conditions_.Set(result);
  return Outcome::kDone;
}

Outcome Sfpu::Swap(isa::SFPSWAP instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 3 && mode != 9) return report_.Refuse("instr_mod", "modelled are 0 to 3 and 9");
  const uint32_t dest = instruction.lreg_dest();
  const uint32_t other = instruction.lreg_c();
  if (dest >= 12) return report_.Refuse("lreg_dest", "it is below 12");
  // Lanes in which dest gets the smaller number.
  const uint32_t smaller = mode == 1 ? ~0u : mode == 2 ? 0x0000FFFF : mode == 3 ? 0x00FF00FF : 0;
  const Lanes d = registers_[dest];
  const Lanes c = registers_[other];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (conditions_.active()[lane] == 0) continue;
    const bool c_first = TotalOrder(c[lane]) < TotalOrder(d[lane]);
    if (mode != 0 && c_first != ((smaller >> lane & 1) != 0)) continue;
    if (dest < kGeneralRegisters) registers_[dest][lane] = c[lane];
    if (other < kGeneralRegisters) registers_[other][lane] = d[lane];
  }
  return Outcome::kDone;
}

Outcome Sfpu::Round(isa::SFP_STOCH_RND instruction) {
  if (instruction.rnd_mode() != 0) return report_.Refuse("rnd_mode", "0 rounds to nearest");
  if (instruction.imm8() != 0) return report_.Refuse("imm8", "it is 0");
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t dest = instruction.lreg_dest();
  switch (instruction.instr_mod()) {
    case 1:
      return Write(dest, [&](uint32_t lane) { return RoundToBFloat16(c[lane]); });
    case 2:
      return Write(dest, [&](uint32_t lane) { return RoundToInteger(c[lane], 255, false); });
    case 3:
      return Write(dest, [&](uint32_t lane) { return RoundToInteger(c[lane], 127, true); });
    case 6:
      return Write(dest, [&](uint32_t lane) { return RoundToInteger(c[lane], 65535, false); });
    case 7:
      return Write(dest, [&](uint32_t lane) { return RoundToInteger(c[lane], 32767, true); });
    default:
      return report_.Refuse("instr_mod", "modelled are 1, 2, 3, 6 and 7");
  }
}

Outcome Sfpu::LookUp(isa::SFPLUT instruction) {
  if (instruction.instr_mod() != 4) return report_.Refuse("instr_mod", "modelled is 4");
  const Lanes& x = registers_[3];
  return Write(instruction.lreg(), [&](uint32_t lane) {
    const uint32_t magnitude = x[lane] & ~kSignBit32;
    const uint32_t piece = magnitude < kOne ? 0 : magnitude < kTwo ? 1 : 2;
    const uint32_t pair = registers_[piece][lane];
    const uint32_t result =
        MultiplyAdd(Coefficient8(pair >> 8 & 0xFF), magnitude, Coefficient8(pair & 0xFF));
    return (result & ~kSignBit32) | (x[lane] & kSignBit32);
  });
}

Outcome Sfpu::LookUpFloat(isa::SFPLUTFP32 instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "modelled is 2");
  constexpr uint32_t kHalf = 0x3F000000;
  constexpr uint32_t kOneAndAHalf = 0x3FC00000;
  const Lanes& x = registers_[3];
  return Write(instruction.lreg_dest(), [&](uint32_t lane) {
    const uint32_t magnitude = x[lane] & ~kSignBit32;
    const uint32_t piece = magnitude < kOne ? 0 : magnitude < kTwo ? 1 : 2;
    const uint32_t middle = piece == 0 ? kHalf : piece == 1 ? kOneAndAHalf : kThree;
    const uint32_t shift = magnitude < middle ? 0 : 16;
    return MultiplyAdd(Coefficient16(registers_[piece][lane] >> shift), magnitude,
                       Coefficient16(registers_[4 + piece][lane] >> shift));
  });
}

Outcome Sfpu::Logic(uint32_t instruction) {
  const isa::SFPAND fields = {instruction};  // the others have the same, or fewer
  const uint32_t opcode = isa::OpcodeOf(instruction);
  const uint32_t mode = fields.instr_mod();
  const uint32_t dest = fields.lreg_dest();
  const Lanes& c = registers_[fields.lreg_c()];
  const Lanes& d = registers_[dest];
  if (opcode == isa::SFPNOT::kOpcode) return Write(dest, [&](uint32_t lane) { return ~c[lane]; });
  if (opcode == isa::SFPXOR::kOpcode) {
    return Write(dest, [&](uint32_t lane) { return d[lane] ^ c[lane]; });
  }
  if (opcode == isa::SFPMOV::kOpcode) {
    if (mode > 2) return report_.Refuse("instr_mod", "modelled are 0, 1 and 2");
    if (mode != 2) {
      const uint32_t negate = mode == 1 ? kSignBit32 : 0;
      return Write(dest, [&](uint32_t lane) { return c[lane] ^ negate; });
    }
    if (dest >= kGeneralRegisters) return report_.Refuse("lreg_dest", "it is below 8");
    registers_[dest] = Lanes(c);  // all lanes
    return Outcome::kDone;
  }
  if (mode > 1) return report_.Refuse("instr_mod", "modelled are 0 and 1");
  if (mode == 0 && fields.imm12() != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
  const Lanes& other = mode == 0 ? d : registers_[fields.imm12()];
  const bool is_and = opcode == isa::SFPAND::kOpcode;
  return Write(
      dest, [&](uint32_t lane) { return is_and ? other[lane] & c[lane] : other[lane] | c[lane]; });
}

Outcome Sfpu::ChangeField(uint32_t instruction) {
  const isa::SFPDIVP2 fields = {instruction};  // the others have the same, or fewer
  const uint32_t opcode = isa::OpcodeOf(instruction);
  const uint32_t mode = fields.instr_mod();
  const uint32_t dest = fields.lreg_dest();
  const uint32_t immediate = fields.imm12();
  const Lanes& c = registers_[fields.lreg_c()];
  const Lanes& d = registers_[dest];
  const bool to_cast = opcode == isa::SFPCAST::kOpcode;
  const uint32_t max_mode = to_cast                             ? 3
                            : opcode == isa::SFPSETEXP::kOpcode ? 2
                            : opcode == isa::SFPARECIP::kOpcode ? 0
                                                                : 1;
  if (mode > max_mode || (to_cast && (mode == 1 || mode == 2))) {
    return report_.Refuse("instr_mod", "the model does not have this mode of the instruction");
  }
  switch (opcode) {
    case isa::SFPDIVP2::kOpcode:
      if (immediate > 0x7F && immediate < 0xF80)
        return report_.Refuse("imm12", "it has 8 bits, signed");
      return Write(dest, [&](uint32_t lane) {
        const uint32_t exponent = ExponentOf(c[lane]);
        if (mode == 0) return WithExponent(c[lane], immediate);
        return exponent == 255 ? c[lane] : WithExponent(c[lane], exponent + immediate);
      });
    case isa::SFPEXMAN::kOpcode:
      return Write(dest, [&](uint32_t lane) {
        return (c[lane] & kMantissa32) | (mode == 0 ? 0x800000 : 0);
      });
    case isa::SFPABS::kOpcode:
      return Write(dest, [&](uint32_t lane) {
        if (mode == 1) return IsNan32(c[lane]) ? c[lane] : c[lane] & ~kSignBit32;
        return c[lane] >> 31 != 0 ? 0u - c[lane] : c[lane];
      });
    case isa::SFPSETEXP::kOpcode:
      if (immediate > (mode == 1 ? 255u : 0u))
        return report_.Refuse("imm12", "it has 8 bits in mode 1 and is 0 in others");
      return Write(dest, [&](uint32_t lane) {
        return WithExponent(c[lane], mode == 0   ? d[lane]
                                     : mode == 1 ? immediate
                                                 : ExponentOf(d[lane]));
      });
    case isa::SFPSETMAN::kOpcode:
      if (immediate != 0) return report_.Refuse("imm12", "it is 0");
      return Write(dest, [&](uint32_t lane) {
        return (c[lane] & ~kMantissa32) | (mode == 0 ? d[lane] & kMantissa32 : 0);
      });
    case isa::SFPSETSGN::kOpcode: {
      const uint32_t sign = isa::SFPSETSGN{instruction}.imm12();
      if (mode == 0 && sign != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
      return Write(dest, [&](uint32_t lane) {
        return (c[lane] & ~kSignBit32) | (mode == 0 ? d[lane] & kSignBit32 : sign << 31);
      });
    }
    case isa::SFPCAST::kOpcode:
      return Write(dest, [&](uint32_t lane) {
        return mode == 0 ? IntegerToFloat(c[lane]) : ChangeIntegerSign(c[lane]);
      });
    default:  // SFPARECIP
      if (immediate != 0) return report_.Refuse("imm12", "it is 0");
      return Write(dest, [&](uint32_t lane) { return ApproximateReciprocal(c[lane]); });
  }
}

Outcome Sfpu::ChangeConditions(uint32_t instruction) {
  const isa::SFPENCC fields = {instruction};  // the others have fewer
  const uint32_t opcode = isa::OpcodeOf(instruction);
  const uint32_t mode = fields.instr_mod();
  if (fields.lreg_dest() != 0) return report_.Refuse("lreg_dest", "it is 0");
  if (opcode == isa::SFPENCC::kOpcode) {
    if (mode != 0 && mode != 10) return report_.Refuse("instr_mod", "modelled are 0 and 10");
    if (mode == 0 && fields.imm12() != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
    if (mode == 0) {
      conditions_.Reset(true, conditions_.enabled());
    } else {
      conditions_.Reset((fields.imm12() & 2) != 0, (fields.imm12() & 1) != 0);
    }
    return Outcome::kDone;
  }
  if (mode != 0) return report_.Refuse("instr_mod", "it is 0");
  if (opcode == isa::SFPPUSHC::kOpcode && !conditions_.Push()) {
    return report_.Refuse("condition stack", "it has eight entries");
  }
  if (opcode == isa::SFPPOPC::kOpcode && !conditions_.Pop()) {
    return report_.Refuse("condition stack", "it is empty");
  }
  if (opcode == isa::SFPCOMPC::kOpcode && !conditions_.Complement()) {
    return report_.Refuse("condition codes", "they are off; SFPENCC turns them on");
  }
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
