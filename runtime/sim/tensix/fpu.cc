// Operands and refusals of the matrix unit.
#include "runtime/sim/tensix/fpu.h"

#include "runtime/sim/tensix/formats.h"
#include "runtime/sim/tensix/lane_math.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kHalfOfDst = kDstRows / 2;
constexpr uint32_t kPoolRows = 4;  // of Dst

constexpr const char* kPastDst = "the row (dst + counter + offset) is past the end of Dst";

constexpr const char* kFormats = "the model computes with bfloat16, TF32, Bfp8_b and Float32";

Broadcast BroadcastOf(uint32_t instr_mod) { return {(instr_mod & 1) != 0, (instr_mod & 2) != 0}; }

}  // namespace

Outcome Fpu::FindFormats(uint32_t thread, Operands* operands) {
  operands->a_format = config_.SourceAFormat(thread, a_.matrix_bank().format);
  operands->b_format = config_.SourceBFormat(thread, b_.matrix_bank().format);
  if (!IsComputedFormat(operands->a_format)) return report_.Refuse("format of SrcA", kFormats);
  if (!IsComputedFormat(operands->b_format)) return report_.Refuse("format of SrcB", kFormats);
  return Outcome::kDone;
}

template <typename Instruction>
Outcome Fpu::FindOperands(uint32_t thread, Instruction instruction, const Shape& shape,
                          Operands* operands) {
  const Rwcs& at = rows_.of(thread);
  operands->dst_row = rows_.Dst(thread, instruction.dst());
  if (instruction.dst() % shape.dst_rows != 0 || operands->dst_row % shape.dst_rows != 0) {
    return report_.Refuse(
        "dst", "the row of Dst (dst + counter + offset) is no multiple of 8, or of 4 for a pool");
  }
  if (!shape.dst_wraps && rows_.DstSum(thread, instruction.dst()) >= kDstRows) {
    return report_.Refuse("dst", kPastDst);
  }
  if (at.src_a() % shape.a_rows != 0 || at.src_a() + shape.a_rows > kSourceRows) {
    return report_.Refuse("counter of SrcA",
                          "MVMUL and pools start at a multiple of 16, others of 8");
  }
  if (at.src_b() % kFpuRows != 0) {
    return report_.Refuse("counter of SrcB", "the row is no multiple of 8");
  }
  if (rows_.CheckModifier(thread, instruction.addr_mode()) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  const SourceBank& a = a_.matrix_bank();
  const SourceBank& b = b_.matrix_bank();
  if (!a.valid || !b.valid) {
    return report_.Wait((a.valid ? 0 : kSrcAEvent) | (b.valid ? 0 : kSrcBEvent));
  }
  operands->a_row = at.src_a();
  operands->b_row = at.src_b();
  return FindFormats(thread, operands);
}

template <typename Instruction>
Outcome Fpu::FindPoolOperands(uint32_t thread, Instruction instruction, bool dst_wraps,
                              Operands* operands) {
  if (instruction.max_pool_index_en() != 0) {
    return report_.Refuse("max_pool_index_en", "the model keeps no indices of maxima");
  }
  if (instruction.instr_mod() != 1) return report_.Refuse("instr_mod", "it is 1");
  return FindOperands(thread, instruction, {kColumns, kPoolRows, dst_wraps}, operands);
}

DstBlock Fpu::Block(const Operands& operands, uint32_t rows) {
  return dst_.Block(operands.dst_row, rows, is_32_bit());
}

Outcome Fpu::CheckRelease(uint32_t banks, uint32_t kept) {
  const bool a_missing = (banks & ~kept & 1) != 0 && !a_.matrix_bank().valid;
  const bool b_missing = (banks & ~kept & 2) != 0 && !b_.matrix_bank().valid;
  if (!a_missing && !b_missing) return Outcome::kDone;
  return report_.Refuse("clear_dvalid", "the bank is not valid");
}

void Fpu::Release(uint32_t banks, uint32_t kept) {
  if ((banks & 1) != 0) {
    a_.Release((kept & 1) != 0);
    report_.changed |= kSrcAEvent;
  }
  if ((banks & 2) != 0) {
    b_.Release((kept & 2) != 0);
    report_.changed |= kSrcBEvent;
  }
}

void Fpu::Finish(uint32_t thread, uint32_t addr_mode, uint32_t clear_dvalid) {
  Release(clear_dvalid, config_.thread(thread, isa::kThreadKeepDvalid));
  rows_.Advance(thread, addr_mode);
}

Outcome Fpu::Execute(uint32_t thread, isa::MVMUL instruction) {
  if (instruction.instr_mod() != 0) {
    return report_.Refuse("instr_mod", "the model has no broadcast of SrcB here");
  }
  Operands operands;
  if (const Outcome outcome =
          FindOperands(thread, instruction, {kColumns, kFpuRows, true}, &operands);
      outcome != Outcome::kDone) {
    return outcome;
  }
  lanes_.multiply_matrix(a(operands), operands.a_row, b(operands), operands.b_row, kFpuRows,
                         rows_.of(thread).fidelity(), Block(operands, kFpuRows));
  Finish(thread, instruction.addr_mode(), instruction.clear_dvalid());
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::GAPOOL instruction) {
  Operands operands;
  if (const Outcome outcome = FindPoolOperands(thread, instruction, true, &operands);
      outcome != Outcome::kDone) {
    return outcome;
  }
  lanes_.multiply_matrix(a(operands), operands.a_row, b(operands), operands.b_row, kPoolRows,
                         rows_.of(thread).fidelity(), Block(operands, kPoolRows));
  Finish(thread, instruction.addr_mode(), instruction.clear_dvalid());
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::GMPOOL instruction) {
  Operands operands;
  if (const Outcome outcome = FindPoolOperands(thread, instruction, false, &operands);
      outcome != Outcome::kDone) {
    return outcome;
  }
  SourceRow rows[kColumns];
  for (const uint32_t scale :
       *b_.matrix_bank().RowsAs(operands.b_format, operands.b_row, 1, rows)) {
    if (scale != kOne) return report_.Refuse("SrcB", "its row holds no other number than 1.0");
  }
  const bool was_valid = dst_.valid(operands.dst_row, is_32_bit());
  MaximumOfColumns(a_.matrix_bank().RowsAs(operands.a_format, operands.a_row, kColumns, rows),
                   was_valid, Block(operands, kPoolRows));
  Finish(thread, instruction.addr_mode(), instruction.clear_dvalid());
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::ELWMUL instruction) {
  if (instruction.dest_accum_en() != 0) {
    return report_.Refuse("dest_accum_en", "ELWMUL always adds to Dst; the bit is 0");
  }
  Operands operands;
  if (const Outcome outcome =
          FindOperands(thread, instruction, {kFpuRows, kFpuRows, false}, &operands);
      outcome != Outcome::kDone) {
    return outcome;
  }
  lanes_.multiply_elements(a(operands), operands.a_row, b(operands), operands.b_row,
                           BroadcastOf(instruction.instr_mod()), rows_.of(thread).fidelity(),
                           Block(operands, kFpuRows));
  Finish(thread, instruction.addr_mode(), instruction.clear_dvalid());
  return Outcome::kDone;
}

template <typename Instruction>
Outcome Fpu::Add(uint32_t thread, Instruction instruction, bool subtract) {
  Operands operands;
  if (const Outcome outcome =
          FindOperands(thread, instruction, {kFpuRows, kFpuRows, false}, &operands);
      outcome != Outcome::kDone) {
    return outcome;
  }
  if (rows_.of(thread).fidelity() != 0) {
    return report_.Refuse("fidelity", "sums and differences have one phase, 0");
  }
  SourceRow rows_a[kFpuRows];
  SourceRow rows_b[kFpuRows];
  lanes_.add_elements(a_.matrix_bank().RowsAs(operands.a_format, operands.a_row, kFpuRows, rows_a),
                      b_.matrix_bank().RowsAs(operands.b_format, operands.b_row, kFpuRows, rows_b),
                      BroadcastOf(instruction.instr_mod()), subtract,
                      instruction.dest_accum_en() != 0, Block(operands, kFpuRows));
  Finish(thread, instruction.addr_mode(), instruction.clear_dvalid());
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::ELWADD instruction) {
  return Add(thread, instruction, false);
}

Outcome Fpu::Execute(uint32_t thread, isa::ELWSUB instruction) {
  return Add(thread, instruction, true);
}

Outcome Fpu::Execute(uint32_t thread, isa::ZEROACC instruction) {
  if (instruction.clear_zero_flags() != 0) {
    return report_.Refuse("clear_zero_flags", "the model invalidates rows only");
  }
  const bool wide = instruction.use_32_bit_mode() != 0;
  const uint32_t where = instruction.where();
  if (instruction.clear_mode() <= 1 &&
      rows_.CheckModifier(thread, instruction.addr_mode()) != Outcome::kDone) {
    return Outcome::kRefused;
  }
  switch (instruction.clear_mode()) {
    case 0: {
      if (wide) return report_.Refuse("use_32_bit_mode", "it is 0 where one row is meant");
      const uint32_t row = rows_.DstSum(thread, where);
      if (row >= kDstRows) return report_.Refuse("where", kPastDst);
      dst_.Invalidate(is_32_bit() ? Dst::HighRow(row) : row, 1);
      break;
    }
    case 1: {
      // By tile rows of 16, in the part of Dst that the thread works in.
      const uint32_t origin = rows_.Dst(thread, 0);
      const uint32_t first = wide ? 32 * (where + ((origin & 768) != 0 ? 16 : 0))
                                  : 16 * (where + ((origin & 512) != 0 ? 32 : 0));
      if (first >= kDstRows) return report_.Refuse("where", "it is beyond the last row of Dst");
      dst_.Invalidate(first, kFpuRows);
      dst_.Invalidate(first + (wide ? 2 : 1) * kFpuRows, kFpuRows);
      break;
    }
    case 2:
      if (where > 1) return report_.Refuse("where", "a half of Dst is 0 or 1");
      dst_.Invalidate(where * kHalfOfDst, kHalfOfDst);
      return Outcome::kDone;
    default:
      if (where != 0) return report_.Refuse("where", "it is 0 where all of Dst is meant");
      dst_.Invalidate(0, kDstRows);
      return Outcome::kDone;
  }
  rows_.Advance(thread, instruction.addr_mode());
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::SETRWC instruction) {
  if ((instruction.rwc_cr() & 8) != 0) {
    return report_.Refuse("rwc_cr", "the model does not set cr from the counter of Dst");
  }
  if ((instruction.rwc_cr() & ~instruction.bit_mask() & 3) != 0) {
    return report_.Refuse("rwc_cr", "bit_mask leaves out a source's counter that is to be set");
  }
  const uint32_t kept = config_.thread(thread, isa::kThreadKeepDvalid);
  if (CheckRelease(instruction.clear_dvalid(), kept) != Outcome::kDone) return Outcome::kRefused;
  rows_.of(thread).Set(instruction);
  Release(instruction.clear_dvalid(), kept);
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t thread, isa::INCRWC instruction) {
  if ((instruction.rwc_cr() & 3) != 0) {
    return report_.Refuse("rwc_cr", "the model increments only Dst's counter from its cr");
  }
  rows_.of(thread).Increment(instruction);
  return Outcome::kDone;
}

Outcome Fpu::Execute(uint32_t /*thread*/, isa::CLEARDVALID instruction) {
  if (instruction.reset() != 0) return report_.Refuse("reset", "the model does not drop banks");
  if (instruction.clear_dvalid() == 0) return report_.Refuse("clear_dvalid", "it names no bank");
  // It frees banks that other instructions keep.
  if (CheckRelease(instruction.clear_dvalid(), 0) != Outcome::kDone) return Outcome::kRefused;
  Release(instruction.clear_dvalid(), 0);
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
