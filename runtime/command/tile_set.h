// A set of workers, and the rectangles that cover it exactly.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "runtime/abi/boot_block.h"
#include "runtime/command/program.h"

namespace ttfd {

// Bit i: worker i, numbered row by row over the grid in use.
using TileSet = std::bitset<abi::kMaxL1Banks>;

// Disjoint rectangles that make up `tiles`: as few as a scan from the top left finds.
std::vector<CoreRange> CoverWithRectangles(const TileSet& tiles, GridSize grid);
// The smallest rectangle that holds every tile of the set, which is not empty.
CoreRange BoundingBox(const TileSet& tiles, GridSize grid);
TileSet TilesOf(const CoreRange& range, GridSize grid);

}  // namespace ttfd
