// A set of workers, and the rectangles that cover it exactly.
#include "runtime/command/tile_set.h"

#include <algorithm>

namespace ttfd {

TileSet TilesOf(const CoreRange& range, GridSize grid) {
  TileSet tiles;
  for (uint32_t y = range.y0; y <= range.y1; ++y) {
    for (uint32_t x = range.x0; x <= range.x1; ++x) tiles.set(y * grid.x + x);
  }
  return tiles;
}

std::vector<CoreRange> CoverWithRectangles(const TileSet& tiles, GridSize grid) {
  std::vector<CoreRange> cover;
  TileSet left = tiles;
  for (uint32_t first = 0; first < grid.x * grid.y; ++first) {
    if (!left.test(first)) continue;
    CoreRange range{first % grid.x, first / grid.x, first % grid.x, first / grid.x};
    while (range.x1 + 1 < grid.x && left.test(range.y0 * grid.x + range.x1 + 1)) ++range.x1;
    const auto row_is_full = [&](uint32_t y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x) {
        if (!left.test(y * grid.x + x)) return false;
      }
      return true;
    };
    while (range.y1 + 1 < grid.y && row_is_full(range.y1 + 1)) ++range.y1;
    left &= ~TilesOf(range, grid);
    cover.push_back(range);
  }
  return cover;
}

CoreRange BoundingBox(const TileSet& tiles, GridSize grid) {
  CoreRange box{grid.x, grid.y, 0, 0};
  for (uint32_t tile = 0; tile < grid.x * grid.y; ++tile) {
    if (!tiles.test(tile)) continue;
    box.x0 = std::min(box.x0, tile % grid.x);
    box.y0 = std::min(box.y0, tile / grid.x);
    box.x1 = std::max(box.x1, tile % grid.x);
    box.y1 = std::max(box.y1, tile / grid.x);
  }
  return box;
}

}  // namespace ttfd
