// The ARC tile as software finds it after its firmware has booted: boot status, telemetry. Its
// message queues are not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/hw/arc.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/options.h"

namespace ttfd::sim {

class ArcTile {
 public:
  ArcTile(const ChipOptions& options, const GridMap& grid);

  // 4 aligned bytes. Writable: the scratch words nothing of the model depends on.
  Refusal Read(uint64_t address, uint32_t* value) const;
  Refusal Write(uint64_t address, uint32_t value);
  void Reset();

 private:
  static constexpr uint32_t kScratchWords = 16;

  std::array<uint32_t, kScratchWords> scratch_{};
  std::vector<uint32_t> table_;   // at kTable
  std::vector<uint32_t> values_;  // at kValues
};

}  // namespace ttfd::sim
