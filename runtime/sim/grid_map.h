// Which tile answers at a NoC coordinate.
//
// Coordinate translation is always on, as Tenstorrent's software runs the card: Tensix coordinates
// are translated ones (surviving columns packed to the left); DRAM banks and the PCIe tile answer at
// their translated and at their physical coordinates; ARC is the same in both; Ethernet tiles answer at translated
// ones. The same coordinates
// hold on both NoCs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/hw/grid.h"
#include "runtime/sim/options.h"

namespace ttfd::sim {

enum class TileKind : uint8_t { kNone, kTensix, kDram, kPcie, kArc, kEthernet };

struct TileRef {
  TileKind kind = TileKind::kNone;
  uint8_t index = 0;  // of the Tensix or Ethernet tile, or the physical DRAM bank
};

class GridMap {
 public:
  explicit GridMap(const ChipOptions& options);

  TileRef At(uint32_t x, uint32_t y) const {
    return x < kSide && y < kSide ? tiles_[y * kSide + x] : TileRef{};
  }

  // Tensix tiles are numbered column by column in translated order: column * kTensixRows + row.
  uint32_t tensix_count() const { return static_cast<uint32_t>(columns_.size()) * hw::kTensixRows; }
  hw::Coordinate TensixTranslated(uint32_t index) const;
  hw::Coordinate TensixPhysical(uint32_t index) const;
  // Channels of the Ethernet tiles, ascending: the tile at `index` has translated x kEthTranslatedX + index.
  const std::vector<uint32_t>& ethernet_channels() const { return channels_; }
  // A coordinate as the routers of NoC `noc` have it: physical, on NoC 1 from the opposite corner. One without a
  // tile stays as it is.
  hw::Coordinate OnNoc(uint32_t noc, hw::Coordinate at) const;

  uint32_t enabled_columns_mask() const { return enabled_columns_mask_; }  // die order
  uint32_t enabled_banks_mask() const { return enabled_banks_mask_; }

 private:
  static constexpr uint32_t kSide = 32;  // translated coordinates end at (31,25)
  void Set(uint32_t x, uint32_t y, TileRef tile) { tiles_[y * kSide + x] = tile; }

  std::array<TileRef, kSide * kSide> tiles_{};
  std::vector<uint32_t> columns_;  // physical x of the surviving columns, ascending
  std::vector<uint32_t> channels_;
  uint32_t enabled_columns_mask_ = 0;
  uint32_t enabled_banks_mask_ = 0;
};

}  // namespace ttfd::sim
