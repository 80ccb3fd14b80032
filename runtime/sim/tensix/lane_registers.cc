// Constants, and writes of registers.
#include "runtime/sim/tensix/lane_registers.h"

#include <iterator>
#include <utility>

namespace ttfd::sim::tensix {
namespace {

// Registers 8 to 14, after a reset; 15 holds twice the lane's number.
constexpr uint32_t kConstants[] = {0x3F56594B, 0,          0x3F800000, 0xBF800000,
                                   0x3B000000, 0xBF2CC4C7, 0xBEB08FF9};

}  // namespace

LaneRegisters::LaneRegisters(Report& report) : report_(report) {
  for (uint32_t i = 0; i < std::size(kConstants); ++i) {
    registers_[kGeneralRegisters + i].fill(kConstants[i]);
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) registers_[15][lane] = 2 * lane;
}

Outcome LaneRegisters::RefuseDest() {
  return report_.Refuse("lreg_dest", "an instruction writes registers 0 to 7");
}

Lanes* LaneRegisters::Change(uint32_t dest) {
  if (dest < kGeneralRegisters) return &registers_[dest];
  RefuseDest();
  return nullptr;
}

Outcome LaneRegisters::WriteAll(uint32_t dest, const Lanes& value) {
  if (dest >= kGeneralRegisters) return RefuseDest();
  registers_[dest] = Lanes(value);
  return Outcome::kDone;
}

void LaneRegisters::Exchange(uint32_t a, uint32_t b, const Lanes& which) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((conditions_.active()[lane] & which[lane]) == 0) continue;
    const uint32_t of_a = registers_[a][lane];
    if (a < kGeneralRegisters) registers_[a][lane] = registers_[b][lane];
    if (b < kGeneralRegisters) registers_[b][lane] = of_a;
  }
}

}  // namespace ttfd::sim::tensix
