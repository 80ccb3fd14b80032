// The vector unit's work on bits: fields of numbers, logic, order, and condition codes.
#pragma once

#include <cstdint>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/lane_registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class LaneBits {
 public:
  // Both outlive the object.
  LaneBits(LaneRegisters& registers, Report& report) : registers_(registers), report_(report) {}

  // Fields of a binary32.
  Outcome ScaleExponent(hw::tensix::SFPDIVP2 instruction);
  Outcome ExtractExponent(hw::tensix::SFPEXEXP instruction);
  Outcome ExtractMantissa(hw::tensix::SFPEXMAN instruction);
  Outcome SetExponent(hw::tensix::SFPSETEXP instruction);
  Outcome SetMantissa(hw::tensix::SFPSETMAN instruction);
  Outcome SetSign(hw::tensix::SFPSETSGN instruction);
  Outcome Absolute(hw::tensix::SFPABS instruction);

  Outcome Move(hw::tensix::SFPMOV instruction);
  Outcome Logic(hw::tensix::SFPAND instruction);  // SFPAND, SFPOR
  Outcome Complement(hw::tensix::SFPNOT instruction);
  Outcome ExclusiveOr(hw::tensix::SFPXOR instruction);
  Outcome CountLeadingZeros(hw::tensix::SFPLZ instruction);

  Outcome Compare(hw::tensix::SFPLE instruction);  // SFPLE, SFPGT
  Outcome Swap(hw::tensix::SFPSWAP instruction);

  Outcome SetCondition(hw::tensix::SFPSETCC instruction);
  Outcome EnableConditions(hw::tensix::SFPENCC instruction);
  Outcome ChangeConditions(hw::tensix::SFPPUSHC instruction);  // SFPPUSHC, SFPPOPC, SFPCOMPC

 private:
  // Sets the condition codes to whether words are negative, or the opposite.
  void SetBySign(Lanes words, bool negative);

  LaneRegisters& registers_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
