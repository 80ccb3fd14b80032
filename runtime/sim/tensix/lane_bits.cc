// Modes of the vector unit's work on bits.
#include "runtime/sim/tensix/lane_bits.h"

#include <bit>

#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

}  // namespace

Outcome LaneBits::ScaleExponent(isa::SFPDIVP2 instruction) {
  const uint32_t mode = instruction.instr_mod();
  const uint32_t immediate = instruction.imm12();
  if (mode > 1) return report_.Refuse("instr_mod", "0 sets the exponent, 1 adds to it");
  if (immediate > 0x7F && immediate < 0xF80) {
    return report_.Refuse("imm12", "it is between -128 and 127");
  }
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    const uint32_t exponent = ExponentOf(c[lane]);
    if (mode == 0) return WithExponent(c[lane], immediate);
    return exponent == 255 ? c[lane] : WithExponent(c[lane], exponent + immediate);
  });
}

void LaneBits::SetBySign(Lanes words, bool negative) {
  for (uint32_t& word : words) word = MaskIf((word >> 31 != 0) == negative);
  registers_.conditions().Set(words);
}

Outcome LaneBits::ExtractExponent(isa::SFPEXEXP instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 2 && mode != 10) return report_.Refuse("instr_mod", "modelled are 0, 1, 2 and 10");
  const Lanes& c = registers_[instruction.lreg_c()];
  const uint32_t bias = (mode & 1) != 0 ? 0 : 127;
  Lanes exponents{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) exponents[lane] = ExponentOf(c[lane]) - bias;
  const Outcome outcome =
      registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) { return exponents[lane]; });
  if (outcome != Outcome::kDone || (mode & 2) == 0) return outcome;
  SetBySign(exponents, (mode & 8) == 0);
  return Outcome::kDone;
}

Outcome LaneBits::ExtractMantissa(isa::SFPEXMAN instruction) {
  if (instruction.instr_mod() > 1) return report_.Refuse("instr_mod", "modelled are 0 and 1");
  const uint32_t hidden = instruction.instr_mod() == 0 ? 0x800000 : 0;
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(),
                          [&](uint32_t lane) { return (c[lane] & kMantissa32) | hidden; });
}

Outcome LaneBits::SetExponent(isa::SFPSETEXP instruction) {
  const uint32_t mode = instruction.instr_mod();
  const uint32_t immediate = instruction.imm12();
  if (mode > 2) return report_.Refuse("instr_mod", "modelled are 0, 1 and 2");
  if (mode != 1 && immediate != 0) return report_.Refuse("imm12", "it is 0 but in mode 1");
  const Lanes& c = registers_[instruction.lreg_c()];
  const Lanes& d = registers_[instruction.lreg_dest()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return WithExponent(c[lane], mode == 0 ? d[lane] : mode == 1 ? immediate : ExponentOf(d[lane]));
  });
}

Outcome LaneBits::SetMantissa(isa::SFPSETMAN instruction) {
  if (instruction.instr_mod() > 1) return report_.Refuse("instr_mod", "modelled are 0 and 1");
  if (instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0");
  const uint32_t taken = instruction.instr_mod() == 0 ? kMantissa32 : 0;
  const Lanes& c = registers_[instruction.lreg_c()];
  const Lanes& d = registers_[instruction.lreg_dest()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return (c[lane] & ~kMantissa32) | (d[lane] & taken);
  });
}

Outcome LaneBits::SetSign(isa::SFPSETSGN instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 1) return report_.Refuse("instr_mod", "modelled are 0 and 1");
  if (mode == 0 && instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
  const uint32_t sign = instruction.imm12() << 31;
  const Lanes& c = registers_[instruction.lreg_c()];
  const Lanes& d = registers_[instruction.lreg_dest()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return (c[lane] & ~kSignBit32) | (mode == 0 ? d[lane] & kSignBit32 : sign);
  });
}

Outcome LaneBits::Absolute(isa::SFPABS instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 1) return report_.Refuse("instr_mod", "0 is for integers, 1 for floats");
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    if (mode == 1) return IsNan32(c[lane]) ? c[lane] : c[lane] & ~kSignBit32;
    return c[lane] >> 31 != 0 ? 0u - c[lane] : c[lane];
  });
}

Outcome LaneBits::Move(isa::SFPMOV instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 2) return report_.Refuse("instr_mod", "modelled are 0, 1 and 2");
  const Lanes& c = registers_[instruction.lreg_c()];
  if (mode == 2) return registers_.WriteAll(instruction.lreg_dest(), c);
  const uint32_t negate = mode == 1 ? kSignBit32 : 0;
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) { return c[lane] ^ negate; });
}

Outcome LaneBits::Logic(isa::SFPAND instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 1) return report_.Refuse("instr_mod", "modelled are 0 and 1");
  if (mode == 0 && instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
  const Lanes& c = registers_[instruction.lreg_c()];
  const Lanes& other = registers_[mode == 0 ? instruction.lreg_dest() : instruction.imm12()];
  const bool is_and = isa::OpcodeOf(instruction.word) == isa::SFPAND::kOpcode;
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return is_and ? other[lane] & c[lane] : other[lane] | c[lane];
  });
}

Outcome LaneBits::Complement(isa::SFPNOT instruction) {
  const Lanes& c = registers_[instruction.lreg_c()];
  return registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) { return ~c[lane]; });
}

Outcome LaneBits::ExclusiveOr(isa::SFPXOR instruction) {
  const Lanes& c = registers_[instruction.lreg_c()];
  const Lanes& d = registers_[instruction.lreg_dest()];
  return registers_.Write(instruction.lreg_dest(),
                          [&](uint32_t lane) { return d[lane] ^ c[lane]; });
}

Outcome LaneBits::CountLeadingZeros(isa::SFPLZ instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 4 || mode % 2 != 0) return report_.Refuse("instr_mod", "modelled are 0, 2 and 4");
  Lanes source = registers_[instruction.lreg_c()];
  if (mode == 4) {
    for (uint32_t& word : source) word &= ~kSignBit32;
  }
  const Outcome outcome = registers_.Write(instruction.lreg_dest(), [&](uint32_t lane) {
    return static_cast<uint32_t>(std::countl_zero(source[lane]));
  });
  if (outcome == Outcome::kDone && mode == 2) registers_.conditions().Set(source);
  return outcome;
}

Outcome LaneBits::Compare(isa::SFPLE fields) {
  const uint32_t mode = fields.instr_mod();
  if (mode != 1 && mode != 8)
    return report_.Refuse("instr_mod", "1 sets condition codes, 8 a register");
  const bool greater = isa::OpcodeOf(fields.word) == isa::SFPGT::kOpcode;
  const Lanes& c = registers_[fields.lreg_c()];
  const Lanes& d = registers_[fields.lreg_dest()];
  Lanes result{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    result[lane] = MaskIf((TotalOrder(d[lane]) > TotalOrder(c[lane])) == greater);
  }
  if (fields.lreg_dest() >= kGeneralRegisters) return report_.Refuse("lreg_dest", "it is below 8");
  if (mode == 8)
    return registers_.Write(fields.lreg_dest(), [&](uint32_t lane) { return result[lane]; });
  registers_.conditions().Set(result);
  return Outcome::kDone;
}

Outcome LaneBits::Swap(isa::SFPSWAP instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 3 && mode != 9) return report_.Refuse("instr_mod", "modelled are 0 to 3 and 9");
  const uint32_t dest = instruction.lreg_dest();
  const uint32_t other = instruction.lreg_c();
  if (dest >= 12) return report_.Refuse("lreg_dest", "it is below 12");
  // Lanes in which dest gets the smaller number.
  const uint32_t smaller = mode == 1 ? ~0u : mode == 2 ? 0x0000FFFF : mode == 3 ? 0x00FF00FF : 0;
  const Lanes& d = registers_[dest];
  const Lanes& c = registers_[other];
  Lanes which{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool c_first = TotalOrder(c[lane]) < TotalOrder(d[lane]);
    which[lane] = MaskIf(mode == 0 || c_first == ((smaller >> lane & 1) != 0));
  }
  registers_.Exchange(dest, other, which);
  return Outcome::kDone;
}

Outcome LaneBits::SetCondition(isa::SFPSETCC instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode > 6 || mode % 2 != 0) return report_.Refuse("instr_mod", "modelled are 0, 2, 4 and 6");
  if (instruction.lreg_dest() != 0 || instruction.imm12() != 0) {
    return report_.Refuse("lreg_dest", "lreg_dest and imm12 are 0");
  }
  if (!registers_.conditions().enabled()) {
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
  registers_.conditions().Set(condition);
  return Outcome::kDone;
}

Outcome LaneBits::EnableConditions(isa::SFPENCC instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode != 0 && mode != 10) return report_.Refuse("instr_mod", "modelled are 0 and 10");
  if (mode == 0 && instruction.imm12() != 0) return report_.Refuse("imm12", "it is 0 in mode 0");
  if (instruction.lreg_dest() != 0) return report_.Refuse("lreg_dest", "it is 0");
  LaneConditions& conditions = registers_.conditions();
  if (mode == 0) {
    conditions.Reset(true, conditions.enabled());
  } else {
    conditions.Reset((instruction.imm12() & 2) != 0, (instruction.imm12() & 1) != 0);
  }
  return Outcome::kDone;
}

Outcome LaneBits::ChangeConditions(isa::SFPPUSHC instruction) {
  if (instruction.instr_mod() != 0) return report_.Refuse("instr_mod", "it is 0");
  if (instruction.lreg_dest() != 0) return report_.Refuse("lreg_dest", "it is 0");
  LaneConditions& conditions = registers_.conditions();
  switch (isa::OpcodeOf(instruction.word)) {
    case isa::SFPPUSHC::kOpcode:
      if (conditions.Push()) return Outcome::kDone;
      return report_.Refuse("condition stack", "it has eight entries");
    case isa::SFPPOPC::kOpcode:
      if (conditions.Pop()) return Outcome::kDone;
      return report_.Refuse("condition stack", "it is empty");
    default:  // SFPCOMPC
      if (conditions.Complement()) return Outcome::kDone;
      return report_.Refuse("condition codes", "they are off; SFPENCC turns them on");
  }
}

}  // namespace ttfd::sim::tensix
