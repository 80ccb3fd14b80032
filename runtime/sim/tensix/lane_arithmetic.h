// The vector unit's arithmetic: products and sums, integers, shifts, rounding, tables.
#pragma once

#include <cstdint>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/lane_registers.h"
#include "runtime/sim/tensix/lanes.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class LaneArithmetic {
 public:
  // All outlive the object.
  LaneArithmetic(const LaneKernels& lanes, LaneRegisters& registers, Report& report)
      : lanes_(lanes), registers_(registers), report_(report) {}

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
  // Sets general register `dest` of the active lanes to x * y + z.
  Outcome WriteSum(uint32_t dest, const Lanes& x, const Lanes& y, const Lanes& z);
  Outcome RotateRows(hw::tensix::SFPSHFT2 instruction);

  const LaneKernels& lanes_;
  LaneRegisters& registers_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
