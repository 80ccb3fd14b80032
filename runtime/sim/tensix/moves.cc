// Rows, formats and modes of moves.
#include "runtime/sim/tensix/moves.h"

#include <algorithm>
#include <utility>

#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kFaceRow = 16;  // of SrcB: the face that TRNSPSRCB transposes
constexpr uint32_t kFour = 4;
constexpr uint32_t kEight = 8;

uint32_t DenormalAsZero(uint32_t datum) { return ExponentOf(datum) == 0 ? 0 : datum; }

}  // namespace

Outcome Moves::CheckFormats(uint32_t thread, SourceFile& source) {
  // SrcA's configured format also says how SrcB moves.
  const isa::Format recorded = source.matrix_bank().format;
  if (config_.SourceAFormat(thread, recorded) == isa::Format::kFloat16B &&
      (&source == &a_ || config_.SourceBFormat(thread, recorded) == isa::Format::kFloat16B)) {
    return Outcome::kDone;
  }
  return report_.Refuse(&source == &a_ ? "format of SrcA" : "format of SrcB",
                        "the model moves bfloat16");
}

template <typename Instruction>
Outcome Moves::FindRows(uint32_t thread, Instruction instruction, const Alignment& alignment,
                        uint32_t source_row, uint32_t* dst_row) {
  *dst_row = rows_.Dst(thread, instruction.dst());
  if (instruction.src() % alignment.fields != 0 || source_row % alignment.source != 0 ||
      source_row >= kSourceRows) {
    return report_.Refuse(
        "src", "the row (src + counter) is beyond the source or not aligned to the rows that move");
  }
  if (instruction.dst() % alignment.fields != 0 || *dst_row % alignment.dst != 0) {
    return report_.Refuse("dst",
                          "the row (dst + counter + offset) is not aligned to the rows that move");
  }
  return rows_.CheckModifier(thread, instruction.addr_mode());
}

void Moves::CopyFromDst(uint32_t row, bool low_half, SourceRow& to) {
  const DstBlock from = dst_.Read(row, is_32_bit());
  for (uint32_t column = 0; column < kColumns; ++column) {
    const uint16_t bits = low_half ? BFloat16OfCell(from.low[0][column]) : from.high[0][column];
    to[column] = uint32_t{bits} << 16;
  }
}

Outcome Moves::Execute(uint32_t thread, isa::MOVA2D instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "2 moves eight rows");
  if (is_32_bit() || instruction.dest_32b_lo() != 0) {
    return report_.Refuse("dest_32b_lo", "the model moves to a 16-bit Dst; add to a 32-bit one");
  }
  const uint32_t from = rows_.of(thread).src_a() + instruction.src();
  uint32_t to = 0;
  if (FindRows(thread, instruction, {kEight, kEight, kEight}, from, &to) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (!a_.matrix_bank().valid) return report_.Wait(kSrcAEvent);
  if (CheckFormats(thread, a_) != Outcome::kDone) return Outcome::kRefused;
  const DstBlock block = dst_.Block(to, kEight, false);
  for (uint32_t row = 0; row < kEight; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      const uint32_t datum = DenormalAsZero(a_.matrix_bank().rows()[from + row][column]);
      block.high[row][column] = static_cast<uint16_t>(datum >> 16);
    }
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t thread, isa::MOVB2D instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode < 2 || mode > 5) return report_.Refuse("instr_mod", "modelled are 2 to 5");
  if (is_32_bit() || instruction.dest_32b_lo() != 0) {
    return report_.Refuse("dest_32b_lo", "the model moves to a 16-bit Dst; add to a 32-bit one");
  }
  const bool one_row = (mode & 2) != 0;
  const uint32_t rows = one_row ? kEight : kFour;
  const uint32_t from = rows_.of(thread).src_b() + instruction.src();
  uint32_t to = 0;
  if (FindRows(thread, instruction, {kFour, rows, rows}, from, &to) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (!b_.matrix_bank().valid) return report_.Wait(kSrcBEvent);
  if (CheckFormats(thread, b_) != Outcome::kDone) return Outcome::kRefused;
  const DstBlock block = dst_.Block(to, rows, false);
  for (uint32_t row = 0; row < rows; ++row) {
    const SourceRow& at = b_.matrix_bank().rows()[one_row ? from : from + row];
    for (uint32_t column = 0; column < kColumns; ++column) {
      const uint32_t datum = DenormalAsZero(at[(mode & 1) != 0 ? 0 : column]);
      block.high[row][column] = static_cast<uint16_t>(datum >> 16);
    }
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t thread, isa::MOVD2A instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "2 moves four rows");
  if (instruction.dest_32b_lo() != 0) return report_.Refuse("dest_32b_lo", "it is 0");
  const uint32_t to = (rows_.of(thread).src_a() + instruction.src()) % kSourceRows;
  uint32_t from = 0;
  if (CheckFormats(thread, a_) != Outcome::kDone ||
      FindRows(thread, instruction, {kFour, kFour, kFour}, to, &from) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  for (uint32_t row = 0; row < kFour; ++row) {
    CopyFromDst(from + row, false, a_.matrix_bank().ChangeRows()[to + row]);
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t thread, isa::MOVD2B instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode != 0 && mode != 2) return report_.Refuse("instr_mod", "modelled are 0 and 2");
  const bool low_half = instruction.dest_32b_lo() != 0;
  if (low_half && !is_32_bit()) return report_.Refuse("dest_32b_lo", "Dst has 16 bits");
  const uint32_t to = rows_.of(thread).src_b() + instruction.src();
  uint32_t from = 0;
  if (CheckFormats(thread, b_) != Outcome::kDone ||
      FindRows(thread, instruction, {kFour, kFour, kFour}, to, &from) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  for (uint32_t row = 0; row < (mode == 0 ? 1 : kFour); ++row) {
    CopyFromDst(from + row, low_half, b_.matrix_bank().ChangeRows()[to + row]);
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t thread, isa::MOVB2A instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "2 moves four rows");
  const uint32_t from = rows_.of(thread).src_b() + instruction.srcb();
  const uint32_t to = rows_.of(thread).src_a() + instruction.srca();
  if (instruction.srcb() % kFour != 0 || from % kFour != 0 || from >= kSourceRows) {
    return report_.Refuse("srcb", "the row (srcb + counter) is a multiple of 4 below 64");
  }
  if (instruction.srca() % kFour != 0 || to % kFour != 0 || to >= kSourceRows) {
    return report_.Refuse("srca", "the row (srca + counter) is a multiple of 4 below 64");
  }
  if (rows_.CheckModifier(thread, instruction.addr_mode()) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (!b_.matrix_bank().valid) return report_.Wait(kSrcBEvent);
  for (uint32_t row = 0; row < kFour; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      a_.matrix_bank().ChangeRows()[to + row][column] =
          DenormalAsZero(b_.matrix_bank().rows()[from + row][column]);
    }
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t /*thread*/, isa::TRNSPSRCB /*instruction*/) {
  if (!b_.matrix_bank().valid) return report_.Wait(kSrcBEvent);
  SourceRow* const face = &b_.matrix_bank().ChangeRows()[kFaceRow];
  for (uint32_t row = 0; row < kColumns; ++row) {
    for (uint32_t column = row + 1; column < kColumns; ++column) {
      std::swap(face[row][column], face[column][row]);
    }
  }
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t /*thread*/, isa::ZEROSRC instruction) {
  if (instruction.zero_val() != 0) return report_.Refuse("zero_val", "the model fills with zeros");
  const uint32_t sources = instruction.src_mask();
  const bool all_banks = instruction.bank_mask() != 0;
  if (sources == 0 || (all_banks && sources != 3)) {
    return report_.Refuse("src_mask", "1, 2 or 3; 3 where bank_mask is 1");
  }
  if (instruction.write_mode() != (all_banks ? 0u : 1u)) {
    return report_.Refuse("write_mode", "1, or 0 where bank_mask is 1");
  }
  for (SourceFile* const file : {&a_, &b_}) {
    if ((sources & (file == &a_ ? 1 : 2)) == 0) continue;
    if (all_banks) {
      file->ClearAll();
    } else {
      file->matrix_bank().Clear();
    }
  }
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
