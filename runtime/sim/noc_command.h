// Rules about a NoC command that only its own registers matter for.
#pragma once

#include <cstdint>

#include "runtime/sim/fault.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/niu.h"

namespace ttfd::sim {

// The class of a static virtual channel: bits 15:14 are 0 or 1 for a unicast, 2 for a multicast.
Refusal CheckChannel(uint32_t control);

// tt-isa-documentation BlackholeA0/NoC/MemoryMap.md: the store to NOC_CMD_CTRL translates the coordinates and writes
// the result back to the registers, each of which may hold a rectangle.
void TranslateInPlace(const GridMap& grid, uint32_t niu, NocCommand& command);

}  // namespace ttfd::sim
