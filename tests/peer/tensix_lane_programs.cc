// Programs for the vector unit.
#include "tests/peer/tensix_units.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kRegisters = 16;
constexpr uint32_t kGeneral = 8;  // the others are constants
constexpr uint32_t kZeroRegister = 9;
constexpr uint32_t kOneRegister = 10;
constexpr uint32_t kLookedUp = 3;  // x of SFPLUT and SFPLUTFP32
constexpr uint32_t kRaw = 4;       // mode of SFPLOAD and SFPSTORE: 32 bits as they are
constexpr uint32_t kEnable = 10;
constexpr uint32_t kStack = 8;

// Modes 0 to 31 as bits.
constexpr uint32_t Modes(std::initializer_list<uint32_t> modes) {
  uint32_t bits = 0;
  for (const uint32_t mode : modes) bits |= 1u << mode;
  return bits;
}

enum class Immediate {
  kNone,
  kAny,        // 12 bits
  kSmall,      // -128 to 127
  kInMode1,    // as many bits as `bits`, in modes with bit 0
  kRegister,   // always a register
  kFactors,    // registers A and B
  kOneFactor,  // A and B, of which one is 1.0
  kProduct,    // A and B, and C is 0
};

struct LaneOperation {
  uint32_t word;
  uint32_t modes;
  Immediate immediate = Immediate::kNone;
  uint32_t bits = 0;
};

const LaneOperation kLaneOperations[] = {
    {tensix::SFPMAD{}.word, Modes({0, 1, 2, 3}), Immediate::kFactors},
    {tensix::SFPMAD{}.word, Modes({0, 1, 2, 3}), Immediate::kFactors},
    {tensix::SFPADD{}.word, Modes({0, 1, 2, 3}), Immediate::kOneFactor},
    {tensix::SFPMUL{}.word, Modes({0, 1}), Immediate::kProduct},
    {tensix::SFPMUL24{}.word, Modes({0, 1}), Immediate::kProduct},
    {tensix::SFPDIVP2{}.word, Modes({0, 1}), Immediate::kSmall},
    {tensix::SFPEXEXP{}.word, Modes({0, 1, 2, 10})},
    {tensix::SFPEXMAN{}.word, Modes({0, 1})},
    {tensix::SFPIADD{}.word, Modes({0, 1, 2, 4, 5, 6, 8, 9, 10}), Immediate::kAny},
    {tensix::SFPSHFT{}.word, Modes({0, 1, 2, 3, 5, 7}), Immediate::kInMode1, 12},
    {tensix::SFPSHFT2{}.word, Modes({5}), Immediate::kRegister},
    {tensix::SFPMOV{}.word, Modes({0, 1, 2})},
    {tensix::SFPABS{}.word, Modes({0, 1})},
    {tensix::SFPAND{}.word, Modes({0, 1}), Immediate::kInMode1, 4},
    {tensix::SFPOR{}.word, Modes({0, 1}), Immediate::kInMode1, 4},
    {tensix::SFPNOT{}.word, Modes({0})},
    {tensix::SFPXOR{}.word, Modes({0})},
    {tensix::SFPLZ{}.word, Modes({0, 2, 4})},
    {tensix::SFPSETEXP{}.word, Modes({0, 1, 2}), Immediate::kInMode1, 8},
    {tensix::SFPSETMAN{}.word, Modes({0, 1})},
    {tensix::SFPSETSGN{}.word, Modes({0, 1}), Immediate::kInMode1, 1},
    {tensix::SFP_STOCH_RND{}.word, Modes({1, 2, 3, 6, 7})},
    {tensix::SFPCAST{}.word, Modes({0, 3})},
    {tensix::SFPSWAP{}.word, Modes({0, 1, 2, 3, 9})},
    {tensix::SFPLE{}.word, Modes({1, 8})},
    {tensix::SFPGT{}.word, Modes({1, 8})},
    {tensix::SFPARECIP{}.word, Modes({0})},
    {tensix::SFPLUTFP32{}.word, Modes({2})},
};

// Condition codes as far as they decide what is accepted.
struct Conditions {
  bool enabled = true;
  std::vector<bool> stack;  // of each entry, whether it is enabled
};

// 64 rows of 32-bit data, which are 128 rows of 16-bit data.
struct Region {
  uint32_t number;  // 0 to 7

  uint32_t wide_tile() const { return number < 4 ? number : number + 4; }
  std::set<uint32_t> narrow_tiles() const { return {2 * number, 2 * number + 1}; }
  // Any row that an access in `mode` starts from.
  uint32_t RandomRow(Chooser& choose, bool wide) const {
    return wide ? wide_tile() * TensixWriter::kTileRows + choose.Below(32) * 2
                : number * 2 * TensixWriter::kTileRows + choose.Below(64) * 2;
  }
};

uint32_t RandomMode(Chooser& choose, uint32_t modes) {
  uint32_t mode = choose.Below(16);
  while ((modes >> mode & 1) == 0) mode = (mode + 1) % 16;
  return mode;
}

// Few registers, so that operands meet; or a constant.
uint32_t RandomSource(Chooser& choose) {
  return choose.Percent(75) ? choose.Below(kGeneral) : choose.Below(kRegisters);
}

uint32_t RandomOperation(Chooser& choose) {
  const LaneOperation& operation = kLaneOperations[choose.Below(std::size(kLaneOperations))];
  const uint32_t mode = RandomMode(choose, operation.modes);
  const bool swaps = tensix::OpcodeOf(operation.word) == tensix::SFPSWAP::kOpcode;
  // The fields are those of SFPMAD, or lie where it has them.
  tensix::SFPMAD fields = {operation.word | mode};
  fields = fields.lreg_dest(choose.Below(swaps && choose.Percent(10) ? 12 : kGeneral));
  if (operation.word != tensix::SFPLUTFP32{}.word) fields = fields.lreg_c(RandomSource(choose));
  const uint32_t any = choose.Any() & 0xFFF;
  uint32_t immediate = 0;
  switch (operation.immediate) {
    case Immediate::kNone:
      break;
    case Immediate::kAny:
      immediate = any;
      break;
    case Immediate::kSmall:
      immediate = (any & 0xFF) < 0x80 ? any & 0x7F : 0xF80 | (any & 0x7F);
      break;
    case Immediate::kInMode1:
      immediate = (mode & 1) != 0 ? any & ((1u << operation.bits) - 1) : 0;
      break;
    case Immediate::kRegister:
      immediate = RandomSource(choose);
      break;
    case Immediate::kProduct:
      fields = fields.lreg_c(kZeroRegister);
      [[fallthrough]];
    case Immediate::kFactors:
      immediate = RandomSource(choose);
      immediate |= RandomSource(choose) << 4;
      break;
    case Immediate::kOneFactor:
      immediate = choose.Percent(50) ? kOneRegister | RandomSource(choose) << 4
                                     : RandomSource(choose) | kOneRegister << 4;
      break;
  }
  return fields.word | immediate << 12;
}

void RandomImmediate(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kModes = Modes({0, 1, 2, 4, 8, 10});
  static constexpr uint32_t kValues[] = {0x0000, 0x8000, 0x3F80, 0x7F80, 0xFF80, 0x7FC1,
                                         0x0080, 0x7F7F, 0x7C00, 0x0001, 0xFFFF, 0x4B00,
                                         0x3F00, 0x3FC0, 0x4000, 0x4040};
  const uint32_t value = choose.Percent(30) ? choose.Pick(kValues) : choose.Any() & 0xFFFF;
  const uint32_t lreg = choose.Below(kGeneral);
  switch (choose.Below(4)) {
    case 0:
      return writer.Push(tensix::SFPADDI{}.lreg_dest(lreg).imm16(value));
    case 1:
      return writer.Push(tensix::SFPMULI{}.lreg_dest(lreg).imm16(value));
    case 2:
      // Where two intervals of |x| meet, too.
      if (choose.Percent(50)) writer.Push(tensix::SFPLOADI{}.lreg(kLookedUp).imm16(value));
      if (choose.Percent(50)) {
        return writer.Push(tensix::SFPLUTFP32{}.lreg_dest(lreg).instr_mod(2));
      }
      return writer.Push(tensix::SFPLUT{}.lreg(lreg).instr_mod(4));
    default:
      return writer.Push(
          tensix::SFPLOADI{}.lreg(lreg).instr_mod(RandomMode(choose, kModes)).imm16(value));
  }
}

// A product, and the same once more with it or nearly it taken away.
void Cancel(Chooser& choose, TensixWriter& writer) {
  const uint32_t a = choose.Below(kGeneral), b = choose.Below(kGeneral);
  const uint32_t dest = choose.Below(kGeneral);
  writer.Push(tensix::SFPMUL{}.lreg_a(a).lreg_b(b).lreg_c(kZeroRegister).lreg_dest(dest));
  if (choose.Percent(50)) {
    const uint32_t step = choose.Percent(30) ? 63 : 1;
    writer.Push(tensix::SFPIADD{}.instr_mod(5).lreg_c(dest).lreg_dest(dest).imm12(
        choose.Below(64) * step - 32));
  }
  const uint32_t mode = choose.Percent(80) ? 2 : 1;
  writer.Push(tensix::SFPMAD{}.instr_mod(mode).lreg_a(a).lreg_b(b).lreg_c(dest).lreg_dest(
      choose.Below(kGeneral)));
}

// A product about as large as the largest number, and a sum that may bring it back.
void Overflow(Chooser& choose, TensixWriter& writer) {
  const uint32_t exponents[] = {choose.Between(190, 192), choose.Between(190, 192),
                                choose.Between(251, 254)};
  for (uint32_t lreg = 0; lreg < 3; ++lreg) {
    writer.Push(
        tensix::SFPSETEXP{}.instr_mod(1).lreg_c(lreg).lreg_dest(lreg).imm12(exponents[lreg]));
  }
  writer.Push(tensix::SFPMAD{}
                  .instr_mod(choose.Below(4))
                  .lreg_a(0)
                  .lreg_b(1)
                  .lreg_c(2)
                  .lreg_dest(choose.Below(kGeneral)));
}

void Enable(TensixWriter& writer, uint32_t immediate, Conditions* conditions) {
  writer.Push(tensix::SFPENCC{}.instr_mod(kEnable).imm12(immediate));
  conditions->enabled = (immediate & 1) != 0;
}

void Pop(TensixWriter& writer, Conditions* conditions) {
  writer.Push(tensix::SFPPOPC{});
  conditions->enabled = conditions->stack.back();
  conditions->stack.pop_back();
}

void RandomCondition(Chooser& choose, TensixWriter& writer, Conditions* conditions) {
  std::vector<bool>& stack = conditions->stack;
  switch (choose.Below(6)) {
    case 0:
      if (stack.size() == kStack) return;
      stack.push_back(conditions->enabled);
      return writer.Push(tensix::SFPPUSHC{});
    case 1:
      if (!stack.empty()) Pop(writer, conditions);
      return;
    case 2:
      if (!conditions->enabled || (!stack.empty() && !stack.back())) return;
      return writer.Push(tensix::SFPCOMPC{});
    case 3:
      if (choose.Percent(30)) return writer.Push(tensix::SFPENCC{});
      return Enable(writer, choose.Percent(60) ? 3 : choose.Below(4), conditions);
    default:
      if (!conditions->enabled) return;
      return writer.Push(
          tensix::SFPSETCC{}.instr_mod(2 * choose.Below(4)).lreg_c(RandomSource(choose)));
  }
}

void RandomAccess(Chooser& choose, TensixWriter& writer, const Region& region, bool float32_sfpu) {
  static constexpr uint32_t kModes = Modes({0, 2, 3, 4, 12});
  const uint32_t mode = RandomMode(choose, kModes);
  const bool wide = mode == 0 ? float32_sfpu : mode != 2;
  const uint32_t row = region.RandomRow(choose, wide);
  const uint32_t lreg = choose.Percent(80) ? choose.Below(kGeneral) : choose.Below(12);
  const uint32_t modifier = choose.Below(tensix::kAddrMods);
  if (choose.Percent(50)) {
    writer.LoadLanes(tensix::SFPLOAD{}.instr_mod(mode).lreg(lreg).addr_mode(modifier), row);
  } else {
    writer.StoreLanes(tensix::SFPSTORE{}.instr_mod(mode).lreg(lreg).addr_mode(modifier), row);
  }
}

// Bits of bf16 in all rows: 32-bit data have them in both halves.
void FillRegion(Chooser& choose, TensixWriter& writer, const Region& region) {
  writer.SetModifier(0, {8 | 8 << 8, 0});
  for (const uint32_t tile : region.narrow_tiles()) {
    writer.UnpackTile(0, RandomTile(choose));
    writer.SetRwc(tensix::SETRWC{}.bit_mask(15));
    for (uint32_t row = 0; row < TensixWriter::kTileRows; row += 8) {
      writer.Move(tensix::MOVA2D{}.instr_mod(2).dst(tile * TensixWriter::kTileRows + row));
    }
    writer.ClearValid(TensixWriter::kA);
  }
}

// Rows that are not valid: they keep what they held.
void Invalidate(Chooser& choose, TensixWriter& writer, const Region& region) {
  for (uint32_t i = choose.Below(6); i > 0; --i) {
    const uint32_t odd = choose.Below(2);
    const uint32_t row = region.RandomRow(choose, writer.float32_dst()) + odd;
    writer.SetRwc(tensix::SETRWC{}.bit_mask(4));
    writer.Zero(tensix::ZEROACC{}.where(row));
  }
  if (choose.Percent(20)) writer.Zero(tensix::ZEROACC{}.clear_mode(3));
}

}  // namespace

void WriteLanesProgram(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kOffsets[] = {0, 0, 512, 64, 6};
  const Region region = {choose.Below(8)};
  const bool float32_dst = writer.float32_dst();
  const bool float32_sfpu = choose.Percent(50);
  writer.SetFloat32Dst(false);
  FillRegion(choose, writer, region);
  writer.Set(tensix::kAluFloat32Sfpu, float32_sfpu ? 1 : 0);
  writer.SetFloat32Dst(float32_dst);
  if (choose.Percent(60)) Invalidate(choose, writer, region);
  writer.SetThread(tensix::kThreadDstOffset, choose.Pick(kOffsets));
  for (uint32_t i = 0; i < tensix::kAddrMods; ++i) {
    writer.SetModifier(i, RandomModifier(choose, 2));
  }
  writer.SetRwc(tensix::SETRWC{}.bit_mask(15));
  Conditions conditions;
  Enable(writer, 3, &conditions);
  for (uint32_t lreg = 0; lreg < kGeneral; ++lreg) {
    writer.LoadLanes(tensix::SFPLOAD{}.instr_mod(kRaw).lreg(lreg), region.RandomRow(choose, true));
  }
  for (uint32_t i = choose.Between(20, 60); i > 0; --i) {
    const uint32_t kind = choose.Below(100);
    if (kind < 60) {
      writer.Push(tensix::SFPMAD{RandomOperation(choose)});
    } else if (kind < 70) {
      RandomImmediate(choose, writer);
    } else if (kind < 75) {
      choose.Percent(70) ? Cancel(choose, writer) : Overflow(choose, writer);
    } else if (kind < 85) {
      RandomCondition(choose, writer, &conditions);
    } else {
      RandomAccess(choose, writer, region, float32_sfpu);
    }
  }
  while (!conditions.stack.empty()) Pop(writer, &conditions);
  Enable(writer, 3, &conditions);
  for (uint32_t lreg = 0; lreg < 12; ++lreg) {
    writer.StoreLanes(tensix::SFPSTORE{}.instr_mod(kRaw).lreg(lreg),
                      region.RandomRow(choose, true));
  }
  writer.Dump(region.narrow_tiles(), false);
  writer.Dump({region.wide_tile()}, true);
}

}  // namespace ttfd
