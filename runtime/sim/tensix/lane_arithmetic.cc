// Modes of the vector unit's arithmetic.
#include "runtime/sim/tensix/lane_arithmetic.h"

#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kTwo = 0x40000000;
constexpr uint32_t kThree = 0x40400000;

uint32_t SignExtend12(uint32_t value) { return (value ^ 0x800) - 0x800; }

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
  const uint32_t distance = (0u - static_cast<uint32_t>(amount)) & 31;
  return arithmetic ? static_cast<uint32_t>(static_cast<int32_t>(value) >> distance)
                    : value >> distance;
}

}  // namespace

Outcome LaneArithmetic::MultiplyAddLanes(isa::SFPMAD fields) {
  const uint32_t opcode = isa::OpcodeOf(fields.word);
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
    return registers_.Write(fields.lreg_dest(), [&](uint32_t lane) {
      const uint64_t product = uint64_t{a[lane] & kMantissa32} * (b[lane] & kMantissa32);
      return static_cast<uint32_t>(mode == 0 ? product & kMantissa32 : product >> 23);
    });
  }
  if (mode == 0) return WriteSum(fields.lreg_dest(), a, b, c);
  Lanes x = a;
  Lanes z = c;
  for (uint32_t& word : x) word ^= (mode & 1) != 0 ? kSignBit32 : 0;
  for (uint32_t& word : z) word ^= (mode & 2) != 0 ? kSignBit32 : 0;
  return WriteSum(fields.lreg_dest(), x, b, z);
}

Outcome LaneArithmetic::WriteSum(uint32_t dest, const Lanes& x, const Lanes& y, const Lanes& z) {
  Lanes* const to = registers_.Change(dest);
  if (to == nullptr) return Outcome::kRefused;
  lanes_.multiply_add(x.data(), y.data(), z.data(), registers_.conditions().active().data(),
                      to->data());
  return Outcome::kDone;
}

Outcome LaneArithmetic::MultiplyAddImmediate(isa::SFPMULI fields) {
  if (fields.instr_mod() != 0) return report_.Refuse("instr_mod", "it is 0");
  const uint32_t immediate = fields.imm16() << 16;
  const Lanes& d = registers_[fields.lreg_dest()];
  Lanes factor;
  factor.fill(immediate);
  const bool multiplies = isa::OpcodeOf(fields.word) == isa::SFPMULI::kOpcode;
  return multiplies ? WriteSum(fields.lreg_dest(), d, factor, registers_[kZeroRegister])
                    : WriteSum(fields.lreg_dest(), factor, registers_[kOneRegister], d);
}

Outcome LaneArithmetic::AddInteger(isa::SFPIADD instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 10 || (mode & 3) == 3) {
    return report_.Refuse("instr_mod", "bits 1:0 are 0 to 2; the whole is at most 10");
  }
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t immediate = SignExtend12(instruction.imm12());
  const uint32_t dest = instruction.lreg_dest();
  Lanes sums{};
  const Outcome outcome = registers_.Write(dest, [&](uint32_t lane) {
    const uint32_t d = registers_[dest][lane];
    sums[lane] = (mode & 3) == 0   ? c[lane] + d
                 : (mode & 3) == 1 ? c[lane] + immediate
                                   : c[lane] - d;
    return sums[lane];
  });
  if (outcome != Outcome::kDone || (mode & 12) == 4) return outcome;
  const bool for_positive = (mode & 8) != 0;
  for (uint32_t& sum : sums) sum = MaskIf((sum >> 31 == 0) == for_positive);
  registers_.conditions().Set(sums);
  return Outcome::kDone;
}

Outcome LaneArithmetic::Shift(isa::SFPSHFT instruction) {
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
  return registers_.Write(dest, [&](uint32_t lane) {
    const int32_t amount = by_immediate ? immediate : static_cast<int32_t>(c[lane]);
    return ShiftSigned((mode & 4) != 0 ? c[lane] : registers_[dest][lane], amount, (mode & 2) != 0);
  });
}

// Each row of eight lanes, to the right by one lane.
Outcome LaneArithmetic::RotateRows(isa::SFPSHFT2 instruction) {
  if (instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0 where lanes rotate");
  const Lanes value = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(),
                          [&](uint32_t lane) { return value[(lane & ~7u) | ((lane + 7) & 7)]; });
}

Outcome LaneArithmetic::ShiftBy(isa::SFPSHFT2 instruction) {
  if (instruction.instr_mod() == 3) return RotateRows(instruction);
  if (instruction.instr_mod() != 5) {
    return report_.Refuse("instr_mod", "3 rotates rows of lanes, 5 shifts within lanes");
  }
  if (instruction.imm12() > 15) return report_.Refuse("imm12", "it names a register, 0 to 15");
  const Lanes& value = registers_[instruction.imm12()];
  const Lanes& amount = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return ShiftSigned(value[lane], static_cast<int32_t>(amount[lane]), false);
  });
}

Outcome LaneArithmetic::Round(isa::SFP_STOCH_RND instruction) {
  if (instruction.rnd_mode() != 0) return report_.Refuse("rnd_mode", "0 rounds to nearest");
  if (instruction.imm8() != 0) return report_.Refuse("imm8", "it is 0");
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t dest = instruction.lreg_dest();
  switch (instruction.instr_mod()) {
    case 1:
      return registers_.Write(dest, [&](uint32_t lane) { return RoundToBFloat16(c[lane]); });
    case 2:
      return registers_.Write(dest,
                              [&](uint32_t lane) { return RoundToInteger(c[lane], 255, false); });
    case 3:
      return registers_.Write(dest,
                              [&](uint32_t lane) { return RoundToInteger(c[lane], 127, true); });
    case 6:
      return registers_.Write(dest,
                              [&](uint32_t lane) { return RoundToInteger(c[lane], 65535, false); });
    case 7:
      return registers_.Write(dest,
                              [&](uint32_t lane) { return RoundToInteger(c[lane], 32767, true); });
    default:
      return report_.Refuse("instr_mod", "modelled are 1, 2, 3, 6 and 7");
  }
}

Outcome LaneArithmetic::Cast(isa::SFPCAST instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode != 0 && mode != 3) {
    return report_.Refuse("instr_mod",
                          "0 makes a float of an integer, 3 changes the form of its sign");
  }
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return mode == 0 ? IntegerToFloat(c[lane]) : ChangeIntegerSign(c[lane]);
  });
}

Outcome LaneArithmetic::Reciprocal(isa::SFPARECIP instruction) {
  if (instruction.instr_mod() != 0) return report_.Refuse("instr_mod", "it is 0");
  if (instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0");
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(),
                          [&](uint32_t lane) { return ApproximateReciprocal(c[lane]); });
}

Outcome LaneArithmetic::LookUp(isa::SFPLUT instruction) {
  if (instruction.instr_mod() != 4) return report_.Refuse("instr_mod", "modelled is 4");
  const Lanes& x = registers_[3];
  return registers_.Write(instruction.lreg(), [&](uint32_t lane) {
    const uint32_t magnitude = x[lane] & ~kSignBit32;
    const uint32_t interval = magnitude < kOne ? 0 : magnitude < kTwo ? 1 : 2;
    const uint32_t pair = registers_[interval][lane];
    const uint32_t result =
        MultiplyAdd(Coefficient8(pair >> 8 & 0xFF), magnitude, Coefficient8(pair & 0xFF));
    return (result & ~kSignBit32) | (x[lane] & kSignBit32);
  });
}

Outcome LaneArithmetic::LookUpFloat(isa::SFPLUTFP32 instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "modelled is 2");
  constexpr uint32_t kHalf = 0x3F000000;
  constexpr uint32_t kOneAndAHalf = 0x3FC00000;
  const Lanes& x = registers_[3];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    const uint32_t magnitude = x[lane] & ~kSignBit32;
    const uint32_t interval = magnitude < kOne ? 0 : magnitude < kTwo ? 1 : 2;
    const uint32_t middle = interval == 0 ? kHalf : interval == 1 ? kOneAndAHalf : kThree;
    const uint32_t shift = magnitude < middle ? 0 : 16;
    return MultiplyAdd(Coefficient16(registers_[interval][lane] >> shift), magnitude,
                       Coefficient16(registers_[4 + interval][lane] >> shift));
  });
}

}  // namespace ttfd::sim::tensix
