// Where the harts of a tile start when they leave soft reset. Source: tt-isa-documentation
// BlackholeA0/TensixTile/SoftReset.md.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix.h"
#include "runtime/sim/fault.h"

namespace ttfd::sim {

class ResetVectors {
 public:
  // BRISC always starts at 0, the others at a fixed address or, with their override bit, at their register's.
  uint32_t PcOf(uint32_t hart) const;

  static bool Has(uint32_t address) {
    return address >= hw::kTriscResetPc && address <= hw::kNcriscResetPcOverride;
  }
  // `address`: one for which Has() is true.
  Refusal Read(uint32_t address, uint32_t* value) const;
  Refusal Write(uint32_t address, uint32_t value);

 private:
  std::array<uint32_t, 3> trisc_pc_{};
  uint32_t trisc_override_ = 0;  // one bit each
  uint32_t ncrisc_pc_ = 0;
  uint32_t ncrisc_override_ = 0;
};

}  // namespace ttfd::sim
