// The vector unit: 32 lanes that work on data of Dst.
//
// Arithmetic is ttsim 1.10.0's (lane_math.h). Source: tt-isa-documentation
// BlackholeA0/TensixTile/TensixCoprocessor/SFPU.md and the pages of its instructions.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/lane_access.h"
#include "runtime/sim/tensix/lane_arithmetic.h"
#include "runtime/sim/tensix/lane_bits.h"
#include "runtime/sim/tensix/lane_registers.h"

namespace ttfd::sim::tensix {

class Sfpu {
 public:
  // All outlive the unit.
  Sfpu(const LaneKernels& lanes, const Config& config, ThreadRows& rows, Dst& dst, Report& report)
      : report_(report),
        registers_(report),
        access_(config, rows, dst, registers_, report),
        arithmetic_(lanes, registers_, report),
        bits_(registers_, report) {}

  // Executes an instruction of this unit (hw::tensix::Unit::kSfpu).
  Outcome Execute(uint32_t thread, uint32_t instruction);

 private:
  Report& report_;
  LaneRegisters registers_;
  LaneAccess access_;
  LaneArithmetic arithmetic_;
  LaneBits bits_;
};

}  // namespace ttfd::sim::tensix
