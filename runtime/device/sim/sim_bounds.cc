// Finds the program that a worker runs in its L1.
#include "runtime/device/sim/sim_bounds.h"

#include <algorithm>

#include "runtime/base/bytes.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd {

void SimBounds::SetLayout(const Layout& layout) {
  EndAll();
  program_address_ = layout.program_address;
  SetBegins(layout.l1_begin, layout.dram_begin);
  for (uint32_t i = 0; i < chip_.tensix_count(); ++i) {
    const hw::Coordinate at = chip_.TensixCoordinate(i);
    const bool worker =
        std::find(layout.workers.begin(), layout.workers.end(), at) != layout.workers.end();
    chip_.Guard(i, worker ? this : nullptr);
  }
}

sim::Refusal SimBounds::Check(const sim::TensixTile& tile, const sim::GuardedAccess& access) {
  uint32_t program = LoadAt<uint32_t>(tile.memory().l1() + program_address_);
  // BRISC has stored it, which memory may not show yet.
  const sim::HartHazards* const hazards = tile.hart(hw::kBrisc).hazards;
  if (hazards != nullptr) program = hazards->WithStores(program_address_, program);
  const Memory memory = access.memory == sim::GuardedMemory::kL1 ? Memory::kL1 : Memory::kDram;
  std::optional<std::string> refusal = KernelBounds::Check(
      program, {{memory, access.address, access.address + access.length}, access.writes});
  if (!refusal.has_value()) return {};
  reason_ = *std::move(refusal);
  return {sim::FaultKind::kOutOfBounds, access.address, reason_.c_str()};
}

}  // namespace ttfd
