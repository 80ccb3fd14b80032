// The vector unit's arithmetic: products and sums, integers, shifts, rounding, tables.
#pragma once

#include <cstdint>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/lane_registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class LaneArithmetic {
 public:
  // Both outlive the object.
  LaneArithmetic(LaneRegisters& registers, Report& report)
      : registers_(registers), report_(report) {}

  // SFPMAD, SFPADD, SFPMUL, SFPMUL24.
  Outcome MultiplyAddLanes(hw::tensix::SFPMAD instruction);
  // SFPMULI, SFPADDI.
  Outcome MultiplyAddImmediate(hw::tensix::SFPMULI instruction);
  Outcome AddInteger(hw::tensix::SFPIADD instruction);
  Outcome Shift(hw::tensix::SFPSHFT instruction);
  Outcome ShiftBy(hw::tensix::SFPSHFT2 instruction);
  Outcome Round(hw::tensix::SFP_STOCH_RND instruction);
  Outcome Cast(hw::tensix::SFPCAST instruction);
  Outcome Reciprocal(hw::tensix::SFPARECIP instruction);
  Outcome LookUp(hw::tensix::SFPLUT instruction);
  Outcome LookUpFloat(hw::tensix::SFPLUTFP32 instruction);

 private:
  Outcome RotateRows(hw::tensix::SFPSHFT2 instruction);

  LaneRegisters& registers_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
