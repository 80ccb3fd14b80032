// The matrix unit: products, sums and element-wise operations of SrcA and SrcB into Dst.
//
// Arithmetic is ttsim 1.10.0's (lanes.h); the documents describe these instructions for WormholeB0 only.
#pragma once

#include <array>
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
  Fpu(const Config& config, SourceFile& a, SourceFile& b, Dst& dst, Report& report)
      : config_(config), a_(a), b_(b), dst_(dst), report_(report) {}

  Outcome Execute(uint32_t thread, hw::tensix::MVMUL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWMUL instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWADD instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ELWSUB instruction);
  Outcome Execute(uint32_t thread, hw::tensix::ZEROACC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::SETRWC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::INCRWC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::CLEARDVALID instruction);

 private:
  // Rows that an instruction of two operands works on.
  struct Operands {
    const SourceRow* a = nullptr;
    const SourceRow* b = nullptr;
    uint32_t dst_row = 0;
    bool is_32_bit = false;
    DstBlock Block(Dst& dst) const { return dst.Block(dst_row, kFpuRows, is_32_bit); }
  };
  // Finds and checks them, `a_rows` a multiple of which row of SrcA it has to be. Waits while one bank is not valid.
  Outcome FindOperands(uint32_t thread, uint32_t dst, uint32_t a_rows, Operands* operands);
  Outcome CheckFormats(uint32_t thread);
  template <typename Instruction>
  Outcome Add(uint32_t thread, Instruction instruction, bool subtract);
  void Finish(uint32_t thread, uint32_t addr_mode, uint32_t clear_dvalid);
  // Bit 0: SrcA's matrix bank goes back to its unpacker, bit 1: SrcB's.
  Outcome CheckRelease(uint32_t banks);
  void Release(uint32_t thread, uint32_t banks);
  uint32_t DstRow(uint32_t thread, uint32_t dst) const;
  bool is_32_bit() const { return config_[hw::tensix::kAluFloat32Dst] != 0; }

  const Config& config_;
  SourceFile& a_;
  SourceFile& b_;
  Dst& dst_;
  Report& report_;
  std::array<Rwcs, hw::tensix::kThreads> rwcs_;
};

}  // namespace ttfd::sim::tensix
