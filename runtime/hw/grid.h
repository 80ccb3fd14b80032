// The Blackhole NoC grid: which tile stands where, in physical (NoC 0) and in translated
// coordinates.
//
// Sources: tt-umd device/api/umd/device/arch/blackhole_implementation.hpp and
// device/coordinates/blackhole_coordinate_manager.cpp; tt-isa-documentation BlackholeA0/README.md.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

inline constexpr uint32_t kGridColumns = 17;
inline constexpr uint32_t kGridRows = 12;

struct Coordinate {
  uint32_t x;
  uint32_t y;
  constexpr bool operator==(const Coordinate& other) const { return x == other.x && y == other.y; }
};

// Tensix tiles: 14 columns x 10 rows. The same x list serves physical and translated coordinates;
// translation packs the surviving columns to the left of it.
inline constexpr uint32_t kTensixColumns = 14;
inline constexpr uint32_t kTensixRows = 10;
inline constexpr uint32_t kTensixFirstRow = 2;
inline constexpr uint32_t kTensixColumnX[kTensixColumns] = {1,  2,  3,  4,  5,  6,  7,
                                                            10, 11, 12, 13, 14, 15, 16};
// Bit i of the telemetry word "enabled Tensix columns" stands for physical column
// kTensixHarvestColumnX[i] (die order).
inline constexpr uint32_t kTensixHarvestColumnX[kTensixColumns] = {1,  16, 2,  15, 3,  14, 4,
                                                                   13, 5,  12, 6,  11, 7,  10};

// DRAM: 8 banks, 3 ports each; all three ports of a bank show the same memory.
inline constexpr uint32_t kDramBanks = 8;
inline constexpr uint32_t kDramPortsPerBank = 3;
// The last 16 MiB of the 4 GiB of a DRAM tile's addresses are registers of the tile (its NIUs among them).
inline constexpr uint64_t kDramBankBytes = 0xFF000000;
inline constexpr uint64_t kDramTileBytes = uint64_t{4} << 30;
inline constexpr uint32_t kDramPortRow[4][kDramPortsPerBank] = {
    {0, 1, 11}, {2, 10, 3}, {9, 4, 8}, {5, 7, 6}};   // bank % 4
inline constexpr uint32_t kDramColumnX[2] = {0, 9};  // bank / 4
// Translated DRAM tiles: x 17 and 18, y 12..23, three rows a bank; see DramTranslatedBank().
inline constexpr uint32_t kDramTranslatedX[2] = {17, 18};
inline constexpr uint32_t kDramTranslatedFirstRow = 12;
// Port a NoC prefers, [bank][noc] (tenstorrent-docs device-grid.md).
inline constexpr uint32_t kDramPreferredPort[kDramBanks][2] = {{2, 1}, {0, 1}, {0, 1}, {0, 1},
                                                               {2, 1}, {2, 1}, {2, 1}, {2, 1}};

inline constexpr uint32_t kNoHarvestedBank = 0xFF;

// The physical bank shown at translated column kDramTranslatedX[column], group of three rows
// `group` (0..3), when bank `harvested` is disabled (kNoHarvestedBank: none). tt-umd
// fill_dram_noc0_translated_mapping: the half with the harvested bank moves to x = 18 with that
// bank last; the bank opposite it moves last at x = 17.
constexpr uint32_t DramTranslatedBank(uint32_t harvested, uint32_t column, uint32_t group) {
  if (harvested == kNoHarvestedBank) return column * 4 + group;
  const uint32_t harvested_half = harvested / 4;
  const uint32_t half = column == 1 ? harvested_half : 1 - harvested_half;
  const uint32_t last = half * 4 + harvested % 4;
  if (group == 3) return last;
  const uint32_t bank = half * 4 + group;
  return bank < last ? bank : bank + 1;
}

inline constexpr Coordinate kPcieTranslated = {19, 24};
inline constexpr Coordinate kPciePhysical[2] = {{2, 0}, {11, 0}};  // one of the two is the endpoint
inline constexpr Coordinate kArc = {8, 0};  // the same in both coordinate systems
inline constexpr uint32_t kEthChannels = 14;
inline constexpr uint32_t kEthTranslatedX = 20;  // + logical channel
inline constexpr uint32_t kEthTranslatedY = 25;

// Columns and rows that never receive a Tensix multicast (default router masks: columns 0, 8, 9;
// rows 0, 1).
inline constexpr uint32_t kMulticastExcludedColumns = 0x301;
inline constexpr uint32_t kMulticastExcludedRows = 0x03;

}  // namespace ttfd::hw
