// The vector unit's loads from Dst, stores to it, and constants.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/lane_registers.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class LaneAccess {
 public:
  // All outlive the object.
  LaneAccess(const Config& config, ThreadRows& rows, Dst& dst, LaneRegisters& registers,
             Report& report)
      : config_(config), rows_(rows), dst_(dst), registers_(registers), report_(report) {}

  Outcome Load(uint32_t thread, hw::tensix::SFPLOAD instruction);
  Outcome Store(uint32_t thread, hw::tensix::SFPSTORE instruction);
  Outcome LoadImmediate(hw::tensix::SFPLOADI instruction);

 private:
  // The row of Dst that decides which rows and columns the lanes get.
  template <typename Instruction>
  Outcome FindRow(uint32_t thread, Instruction instruction, uint32_t* row);
  // The mode that mode 0 stands for.
  uint32_t ConfiguredMode() const;

  const Config& config_;
  ThreadRows& rows_;
  Dst& dst_;
  LaneRegisters& registers_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
