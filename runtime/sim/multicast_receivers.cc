// Lists the tiles of a rectangle.
#include "runtime/sim/multicast_receivers.h"

#include "runtime/hw/noc.h"

namespace ttfd::sim {

Refusal MulticastReceivers::Find(const Rectangle& rectangle,
                                 const std::vector<TensixTile*>** tiles) {
  for (const Known& known : known_) {
    if (known.rectangle == rectangle && !known.tiles.empty()) {
      *tiles = &known.tiles;
      return {};
    }
  }
  Known& replaced = known_[next_];
  next_ = (next_ + 1) % kRememberedRectangles;
  replaced.rectangle = rectangle;
  replaced.tiles.clear();
  *tiles = &replaced.tiles;
  Refusal refusal = List(rectangle, &replaced.tiles);
  if (refusal) replaced.tiles.clear();
  return refusal;
}

Refusal MulticastReceivers::List(const Rectangle& rectangle,
                                 std::vector<TensixTile*>* tiles) const {
  for (uint32_t x = rectangle.start.x; x <= rectangle.end.x; ++x) {
    for (uint32_t y = rectangle.start.y; y <= rectangle.end.y; ++y) {
      if ((uint64_t{hw::kMulticastExcludedColumns} >> x & 1) != 0) continue;
      if ((uint64_t{hw::kMulticastExcludedRows} >> y & 1) != 0) continue;
      const TileRef tile = grid_.At(x, y);
      if (tile.kind != TileKind::kTensix) {
        return {FaultKind::kNocMulticast, hw::NocXy(x, y),
                "a multicast rectangle reaches a tile that is no Tensix tile or is harvested"};
      }
      tiles->push_back(&tiles_[tile.index]);
    }
  }
  return {};
}

}  // namespace ttfd::sim
