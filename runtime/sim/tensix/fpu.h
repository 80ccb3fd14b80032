// The matrix unit: products, sums and element-wise operations of SrcA and SrcB into Dst.
//
// Arithmetic is ttsim 1.10.0's (lanes.h); the documents describe these instructions for WormholeB0 only.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/lanes.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Fpu {
 public:
  // All outlive the unit.
  Fpu(const LaneKernels& lanes, const Config& config, ThreadRows& rows, SourceFile& a,
      SourceFile& b, Dst& dst, Report& report)
      : lanes_(lanes), config_(config), rows_(rows), a_(a), b_(b), dst_(dst), report_(report) {}

  Outcome Execute(uint32_t thread, hw::tensix::MVMUL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWMUL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWADD instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWSUB instruction);
  // Sums and maxima of columns.
  Outcome Execute(uint32_t thread, hw::tensix::GAPOOL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::GMPOOL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ZEROACC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::SETRWC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::INCRWC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::CLEARDVALID instruction);

 private:
  // Rows that an instruction of two operands reads and writes, and the formats in which it reads the sources.
  struct Operands {
    uint32_t a_row = 0;
    uint32_t b_row = 0;
    uint32_t dst_row = 0;
    hw::tensix::Format a_format = hw::tensix::Format::kFloat16B;
    hw::tensix::Format b_format = hw::tensix::Format::kFloat16B;
  };
  // The row of SrcA is a multiple of `a_rows`, Dst's of `dst_rows`; Dst's wraps at the end, or is refused there.
  struct Shape {
    uint32_t a_rows;
    uint32_t dst_rows;
    bool dst_wraps;
  };
  // Finds and checks them. Waits for both banks.
  template <typename Instruction>
  Outcome FindOperands(uint32_t thread, Instruction instruction, const Shape& shape,
                       Operands* operands);
  template <typename Instruction>
  Outcome FindPoolOperands(uint32_t thread, Instruction instruction, bool dst_wraps,
                           Operands* operands);
  DstBlock Block(const Operands& operands, uint32_t rows);
  // The operands of products.
  const Halves& a(const Operands& operands) {
    return a_.matrix_bank().halves(lanes_, true, operands.a_format);
  }
  const Halves& b(const Operands& operands) {
    return b_.matrix_bank().halves(lanes_, false, operands.b_format);
  }
  Outcome FindFormats(uint32_t thread, Operands* operands);
  template <typename Instruction>
  Outcome Add(uint32_t thread, Instruction instruction, bool subtract);
  void Finish(uint32_t thread, uint32_t addr_mode, uint32_t clear_dvalid);
  // Bit 0: SrcA's matrix bank goes back to its unpacker, bit 1: SrcB's. `kept`: banks that stay valid.
  Outcome CheckRelease(uint32_t banks, uint32_t kept);
  void Release(uint32_t banks, uint32_t kept);
  bool is_32_bit() const { return config_[hw::tensix::kAluFloat32Dst] != 0; }

  const LaneKernels& lanes_;
  const Config& config_;
  ThreadRows& rows_;
  SourceFile& a_;
  SourceFile& b_;
  Dst& dst_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
