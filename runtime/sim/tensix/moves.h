// Moves between SrcA, SrcB and Dst, and the transposition of a face in SrcB.
//
// Source: ttsim 1.10.0; tt-isa-documentation WormholeB0/TensixTile/TensixCoprocessor/{MOVA2D,MOVB2D,MOVD2A,MOVD2B,
// MOVB2A,TRNSPSRCB,ZEROSRC}.md.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Moves {
 public:
  // All outlive the unit.
  Moves(const Config& config, ThreadRows& rows, SourceFile& a, SourceFile& b, Dst& dst,
        Report& report)
      : config_(config), rows_(rows), a_(a), b_(b), dst_(dst), report_(report) {}

  // Eight rows of SrcA into Dst: TF32 into 32-bit rows, other formats into 16-bit ones, which
  // would be every other half of a 32-bit Dst.
  Outcome Execute(uint32_t thread, hw::tensix::MOVA2D instruction);
  // Rows of SrcB into Dst in the same way: one row eight times (modes 2, 3), or four rows (4, 5); 3 and 5: column 0.
  Outcome Execute(uint32_t thread, hw::tensix::MOVB2D instruction);
  // Four rows of Dst into SrcA: as TF32 from a 32-bit Dst, or as bfloat16.
  Outcome Execute(uint32_t thread, hw::tensix::MOVD2A instruction);
  // One row of Dst (mode 0) or four (2) into SrcB, in the same way.
  Outcome Execute(uint32_t thread, hw::tensix::MOVD2B instruction);
  // Four rows of SrcB into SrcA (mode 2).
  Outcome Execute(uint32_t thread, hw::tensix::MOVB2A instruction);
  // Transposes rows 16 to 31 of SrcB.
  Outcome Execute(uint32_t thread, hw::tensix::TRNSPSRCB instruction);
  // Zeros in the matrix banks (write_mode 1), or in all banks of both sources (bank_mask 1).
  Outcome Execute(uint32_t thread, hw::tensix::ZEROSRC instruction);

 private:
  // Multiples that the instruction's fields, and the rows they lead to, have to be.
  struct Alignment {
    uint32_t fields;
    uint32_t source;
    uint32_t dst;
  };
  // Checks `source_row` and finds the row of Dst.
  template <typename Instruction>
  Outcome FindRows(uint32_t thread, Instruction instruction, const Alignment& alignment,
                   uint32_t source_row, uint32_t* dst_row);
  struct Formats {
    hw::tensix::Format moved =
        hw::tensix::Format::kFloat16B;  // TF32: 32 bits of a datum of Dst, else 16
    hw::tensix::Format kept = hw::tensix::Format::kFloat16B;  // in the source
    bool is_tf32() const { return moved == hw::tensix::Format::kTf32; }
  };
  // Finds those of a move between Dst and the matrix bank `bank`; `low_half`: of the datums of Dst.
  Outcome FindFormats(uint32_t thread, const SourceBank& bank, bool low_half, Formats* formats);
  Outcome FindFormatsToDst(uint32_t thread, const SourceBank& bank, bool low_half,
                           Formats* formats);
  // Copies 16 or 19 bits of each datum of a row of Dst.
  void CopyFromDst(uint32_t row, bool low_half, const Formats& formats, SourceRow& to);
  bool is_32_bit() const { return config_[hw::tensix::kAluFloat32Dst] != 0; }

  const Config& config_;
  ThreadRows& rows_;
  SourceFile& a_;
  SourceFile& b_;
  Dst& dst_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
