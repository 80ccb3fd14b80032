// Tiles that receive a multicast.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "runtime/sim/fault.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {

// Tensix tiles from `start` to `end`, both included, without the columns and rows that routers keep
// out of multicasts.
struct Rectangle {
  hw::Coordinate start;
  hw::Coordinate end;

  bool operator==(const Rectangle&) const = default;
};

class MulticastReceivers {
 public:
  // Both outlive it.
  MulticastReceivers(const GridMap& grid, std::vector<TensixTile>& tiles)
      : grid_(grid), tiles_(tiles) {}

  // The tiles of `rectangle`; good until the next call. A refusal: it has a tile that receives no multicasts.
  Refusal Find(const Rectangle& rectangle, const std::vector<TensixTile*>** tiles);

 private:
  // Multicasts go to few rectangles, often.
  struct Known {
    Rectangle rectangle = {};
    std::vector<TensixTile*> tiles;  // none: not in use
  };
  static constexpr size_t kRememberedRectangles = 8;

  Refusal List(const Rectangle& rectangle, std::vector<TensixTile*>* tiles) const;

  const GridMap& grid_;
  std::vector<TensixTile>& tiles_;
  std::array<Known, kRememberedRectangles> known_;
  size_t next_ = 0;  // the next to be replaced
};

}  // namespace ttfd::sim
