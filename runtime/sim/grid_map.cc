// Builds the coordinate table of one chip.
#include "runtime/sim/grid_map.h"

#include <algorithm>

#include "runtime/hw/ethernet.h"

namespace ttfd::sim {

GridMap::GridMap(const ChipOptions& options) {
  const auto& harvested = options.harvested_columns;
  for (const uint32_t x : hw::kTensixColumnX) {
    if (std::find(harvested.begin(), harvested.end(), x) == harvested.end()) columns_.push_back(x);
  }
  for (uint32_t i = 0; i < tensix_count(); ++i) {
    const hw::Coordinate at = TensixTranslated(i);
    Set(at.x, at.y, {TileKind::kTensix, static_cast<uint8_t>(i)});
  }
  for (uint32_t bit = 0; bit < hw::kTensixColumns; ++bit) {
    const uint32_t x = hw::kTensixHarvestColumnX[bit];
    if (std::find(columns_.begin(), columns_.end(), x) != columns_.end()) {
      enabled_columns_mask_ |= 1u << bit;
    }
  }

  for (uint32_t column = 0; column < 2; ++column) {
    for (uint32_t group = 0; group < hw::kDramBanks / 2; ++group) {
      const uint32_t bank = hw::DramTranslatedBank(options.harvested_bank, column, group);
      if (bank == options.harvested_bank) continue;
      const TileRef tile = {TileKind::kDram, static_cast<uint8_t>(bank)};
      enabled_banks_mask_ |= 1u << bank;
      for (uint32_t port = 0; port < hw::kDramPortsPerBank; ++port) {
        Set(hw::kDramTranslatedX[column],
            hw::kDramTranslatedFirstRow + group * hw::kDramPortsPerBank + port, tile);
        Set(hw::kDramColumnX[bank / 4], hw::kDramPortRow[bank % 4][port], tile);
      }
    }
  }

  for (uint32_t channel = 0; channel < hw::kEthChannels; ++channel) {
    if ((options.ethernet_channels >> channel & 1) == 0) continue;
    const auto index = static_cast<uint8_t>(channels_.size());
    Set(hw::kEthTranslatedX + index, hw::kEthTranslatedY, {TileKind::kEthernet, index});
    channels_.push_back(channel);
  }

  // The endpoint is the PCIe tile at physical column 2; the other one is not in use.
  Set(hw::kPcieTranslated.x, hw::kPcieTranslated.y, {TileKind::kPcie, 0});
  Set(hw::kPciePhysical[0].x, hw::kPciePhysical[0].y, {TileKind::kPcie, 0});
  Set(hw::kArc.x, hw::kArc.y, {TileKind::kArc, 0});
}

hw::Coordinate GridMap::TensixTranslated(uint32_t index) const {
  return {hw::kTensixColumnX[index / hw::kTensixRows],
          hw::kTensixFirstRow + index % hw::kTensixRows};
}

hw::Coordinate GridMap::OnNoc(uint32_t noc, hw::Coordinate at) const {
  const TileRef tile = At(at.x, at.y);
  if (tile.kind == TileKind::kNone) return at;
  if (tile.kind == TileKind::kTensix) at = TensixPhysical(tile.index);
  if (tile.kind == TileKind::kEthernet) at = {hw::kEthColumnX[channels_[tile.index]], hw::kEthRow};
  if (tile.kind == TileKind::kPcie) at = hw::kPciePhysical[0];
  if (tile.kind == TileKind::kDram && at.y >= hw::kDramTranslatedFirstRow) {
    const uint32_t port = (at.y - hw::kDramTranslatedFirstRow) % hw::kDramPortsPerBank;
    at = {hw::kDramColumnX[tile.index / 4], hw::kDramPortRow[tile.index % 4][port]};
  }
  if (noc == 0) return at;
  return {hw::kGridColumns - 1 - at.x, hw::kGridRows - 1 - at.y};
}

hw::Coordinate GridMap::TensixPhysical(uint32_t index) const {
  return {columns_[index / hw::kTensixRows], hw::kTensixFirstRow + index % hw::kTensixRows};
}

}  // namespace ttfd::sim
