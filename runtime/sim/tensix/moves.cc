// Rows, formats and modes of moves.
#include "runtime/sim/tensix/moves.h"

#include <algorithm>
#include <utility>

#include "runtime/sim/tensix/formats.h"
#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kFaceRow = 16;  // of SrcB: the face that TRNSPSRCB transposes
constexpr uint32_t kFour = 4;
constexpr uint32_t kEight = 8;

uint32_t DenormalAsZero(uint32_t datum) { return ExponentOf(datum) == 0 ? 0 : datum; }

}  // namespace

Outcome Moves::FindFormats(uint32_t thread, const SourceBank& bank, bool low_half,
                           Formats* formats) {
  // SrcA's configured format also says how SrcB moves.
  formats->moved = config_.SourceAFormat(thread, bank.format);
  formats->kept =
      &bank == &a_.matrix_bank() ? formats->moved : config_.SourceBFormat(thread, bank.format);
  if (!IsComputedFormat(formats->moved) || !IsComputedFormat(formats->kept)) {
    return report_.Refuse(&bank == &a_.matrix_bank() ? "format of SrcA" : "format of SrcB",
                          "the model moves bfloat16, TF32, Bfp8_b and Float32");
  }
  if (formats->is_tf32() && (low_half || !is_32_bit())) {
    return report_.Refuse("dest_32b_lo", "it is 0 and Dst has 32 bits where a TF32 moves");
  }
  return Outcome::kDone;
}

Outcome Moves::FindFormatsToDst(uint32_t thread, const SourceBank& bank, bool low_half,
                                Formats* formats) {
  if (const Outcome outcome = FindFormats(thread, bank, low_half, formats);
      outcome != Outcome::kDone) {
    return outcome;
  }
  if (!formats->is_tf32() && (low_half || is_32_bit())) {
    return report_.Refuse("dest_32b_lo", "the model moves to a 16-bit Dst; add to a 32-bit one");
  }
  return Outcome::kDone;
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

void Moves::CopyFromDst(uint32_t row, bool low_half, const Formats& formats, SourceRow& to) {
  const DstBlock from = dst_.Read(row, is_32_bit());
  for (uint32_t column = 0; column < kColumns; ++column) {
    if (formats.is_tf32()) {
      to[column] = Float32AsTf32(from.Load(0, column));
      continue;
    }
    const uint16_t bits = low_half ? BFloat16OfCell(from.low[0][column]) : from.high[0][column];
    to[column] = uint32_t{bits} << 16;
  }
}

Outcome Moves::Execute(uint32_t thread, isa::MOVA2D instruction) {
  if (instruction.instr_mod() != 2) return report_.Refuse("instr_mod", "2 moves eight rows");
  const uint32_t from = rows_.of(thread).src_a() + instruction.src();
  uint32_t to = 0;
  if (FindRows(thread, instruction, {kEight, kEight, kEight}, from, &to) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (!a_.matrix_bank().valid) return report_.Wait(kSrcAEvent);
  Formats formats;
  if (FindFormatsToDst(thread, a_.matrix_bank(), instruction.dest_32b_lo() != 0, &formats) !=
      Outcome::kDone) {
    return Outcome::kRefused;
  }
  SourceRow copy[kEight];
  const SourceRow* const rows = a_.matrix_bank().RowsAs(formats.kept, from, kEight, copy);
  const DstBlock block = dst_.Block(to, kEight, formats.is_tf32());
  for (uint32_t row = 0; row < kEight; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      block.Store(row, column, DenormalAsZero(rows[row][column]));
    }
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t thread, isa::MOVB2D instruction) {
  const uint32_t mode = instruction.instr_mod();
  if (mode < 2 || mode > 5) return report_.Refuse("instr_mod", "modelled are 2 to 5");
  const bool one_row = (mode & 2) != 0;
  const uint32_t rows = one_row ? kEight : kFour;
  const uint32_t from = rows_.of(thread).src_b() + instruction.src();
  uint32_t to = 0;
  if (FindRows(thread, instruction, {kFour, rows, rows}, from, &to) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  if (!b_.matrix_bank().valid) return report_.Wait(kSrcBEvent);
  Formats formats;
  if (FindFormatsToDst(thread, b_.matrix_bank(), instruction.dest_32b_lo() != 0, &formats) !=
      Outcome::kDone) {
    return Outcome::kRefused;
  }
  SourceRow copy[kFour];
  const SourceRow* const moved =
      b_.matrix_bank().RowsAs(formats.kept, from, one_row ? 1 : kFour, copy);
  const DstBlock block = dst_.Block(to, rows, formats.is_tf32());
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      block.Store(row, column,
                  DenormalAsZero(moved[one_row ? 0 : row][(mode & 1) != 0 ? 0 : column]));
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
  Formats formats;
  if (FindFormats(thread, a_.matrix_bank(), false, &formats) != Outcome::kDone ||
      FindRows(thread, instruction, {kFour, kFour, kFour}, to, &from) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  SourceRow* const rows = a_.matrix_bank().ChangeRows(formats.moved);
  for (uint32_t row = 0; row < kFour; ++row)
    CopyFromDst(from + row, false, formats, rows[to + row]);
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
  Formats formats;
  if (FindFormats(thread, b_.matrix_bank(), low_half, &formats) != Outcome::kDone ||
      FindRows(thread, instruction, {kFour, kFour, kFour}, to, &from) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  SourceRow* const rows = b_.matrix_bank().ChangeRows(formats.moved);
  for (uint32_t row = 0; row < (mode == 0 ? 1 : kFour); ++row) {
    CopyFromDst(from + row, low_half, formats, rows[to + row]);
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
  const SourceBank& b = b_.matrix_bank();
  SourceRow* const rows =
      a_.matrix_bank().ChangeRows(b.has_tf32() ? isa::Format::kTf32 : isa::Format::kFloat16B);
  for (uint32_t row = 0; row < kFour; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      rows[to + row][column] = DenormalAsZero(b.rows()[from + row][column]);
    }
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Moves::Execute(uint32_t /*thread*/, isa::TRNSPSRCB /*instruction*/) {
  if (!b_.matrix_bank().valid) return report_.Wait(kSrcBEvent);
  SourceRow* const face = &b_.matrix_bank().ChangeRows(isa::Format::kFloat16B)[kFaceRow];
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
