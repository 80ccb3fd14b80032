// Which tile answers where, with and without harvesting.
#include <gtest/gtest.h>

#include <map>

#include "runtime/hw/noc.h"
#include "runtime/sim/grid_map.h"

namespace ttfd::sim::sim_grid_test {
namespace {

std::map<TileKind, int> Count(const GridMap& grid) {
  std::map<TileKind, int> count;
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) ++count[grid.At(x, y).kind];
  }
  return count;
}

TEST(GridMap, OfAWholeChipHas140TilesAndEightBanks) {
  const GridMap grid(DefaultOptions(Board::kP150));
  EXPECT_EQ(grid.tensix_count(), 140u);
  EXPECT_EQ(grid.enabled_columns_mask(), 0x3FFFu);
  EXPECT_EQ(grid.enabled_banks_mask(), 0xFFu);
  std::map<TileKind, int> count = Count(grid);
  EXPECT_EQ(count[TileKind::kTensix], 140);
  EXPECT_EQ(count[TileKind::kDram], 2 * 8 * 3);  // translated and physical
  EXPECT_EQ(count[TileKind::kPcie], 2);
  EXPECT_EQ(count[TileKind::kArc], 1);
  EXPECT_EQ(count[TileKind::kEthernet], 12);
  for (uint32_t i = 0; i < 140; ++i) EXPECT_EQ(grid.TensixPhysical(i), grid.TensixTranslated(i));
}

TEST(GridMap, OfAP100aPacksSurvivingColumnsToTheLeft) {
  const GridMap grid(DefaultOptions(Board::kP100a));
  EXPECT_EQ(grid.tensix_count(), 120u);
  EXPECT_EQ(grid.enabled_columns_mask(), 0x3FFFu & ~192u);  // tt-umd's example of a p100
  EXPECT_EQ(grid.enabled_banks_mask(), 0xFFu & ~8u);
  EXPECT_EQ(grid.At(14, 2).kind, TileKind::kTensix);
  EXPECT_EQ(grid.At(15, 2).kind, TileKind::kNone);
  EXPECT_EQ(grid.At(16, 11).kind, TileKind::kNone);
  const TileRef tile = grid.At(4, 5);  // physical column 4 is harvested: 5 moves up
  EXPECT_EQ(grid.TensixTranslated(tile.index), (hw::Coordinate{4, 5}));
  EXPECT_EQ(grid.TensixPhysical(tile.index), (hw::Coordinate{5, 5}));
  EXPECT_EQ(grid.TensixPhysical(grid.At(14, 2).index), (hw::Coordinate{16, 2}));
}

TEST(GridMap, CoordinatesOnANocArePhysical) {
  const GridMap grid(DefaultOptions(Board::kP100a));
  const hw::Coordinate rows[][3] = {
      {{4, 5}, {5, 5}, {11, 6}},      // translated, NoC 0, NoC 1; column 4 is harvested
      {{14, 2}, {16, 2}, {0, 9}},     // column 13 is harvested, too
      {{19, 24}, {2, 0}, {14, 11}},   // PCIe
      {{8, 0}, {8, 0}, {8, 11}},      // ARC
      {{17, 12}, {9, 0}, {7, 11}},    // bank 4, port 0: bank 3 is harvested
      {{18, 14}, {0, 11}, {16, 0}},   // bank 0, port 2
      {{30, 30}, {30, 30}, {30, 30}}  // no tile
  };
  for (const auto& [translated, noc0, noc1] : rows) {
    EXPECT_EQ(grid.OnNoc(0, translated), noc0) << translated.x << "," << translated.y;
    EXPECT_EQ(grid.OnNoc(1, translated), noc1) << translated.x << "," << translated.y;
  }
}

TEST(GridMap, EthernetTilesAreTheEnabledChannelsInTheirOrder) {
  ChipOptions options = DefaultOptions(Board::kP150);
  options.ethernet_channels = 1 << 1 | 1 << 12 | 1 << 13;
  const GridMap grid(options);
  EXPECT_EQ(grid.ethernet_channels(), (std::vector<uint32_t>{1, 12, 13}));
  const hw::Coordinate rows[][2] = {{{20, 25}, {16, 1}}, {{21, 25}, {7, 1}}, {{22, 25}, {10, 1}}};
  for (const auto& [translated, physical] : rows) {
    EXPECT_EQ(grid.At(translated.x, translated.y).kind, TileKind::kEthernet);
    EXPECT_EQ(grid.OnNoc(0, translated), physical);
  }
  EXPECT_EQ(grid.At(23, 25).kind, TileKind::kNone);
  EXPECT_EQ(grid.At(16, 1).kind, TileKind::kNone);
  EXPECT_EQ(GridMap(DefaultOptions(Board::kP100a)).ethernet_channels().size(), 0u);
}

TEST(GridMap, TranslatedBanksFollowTheHarvestedOne) {
  struct Row {
    uint32_t harvested;
    uint32_t x17[4];
    uint32_t x18[4];
  };
  constexpr uint32_t kNone = 0xEE;  // nobody answers
  constexpr Row kRows[] = {{hw::kNoHarvestedBank, {0, 1, 2, 3}, {4, 5, 6, 7}},
                           {2, {4, 5, 7, 6}, {0, 1, 3, kNone}},
                           {3, {4, 5, 6, 7}, {0, 1, 2, kNone}},
                           {5, {0, 2, 3, 1}, {4, 6, 7, kNone}}};
  for (const Row& row : kRows) {
    ChipOptions options = DefaultOptions(Board::kP150);
    options.harvested_bank = row.harvested;
    const GridMap grid(options);
    for (uint32_t y = 0; y < 12; ++y) {
      EXPECT_EQ(grid.At(17, 12 + y).index, row.x17[y / 3]) << row.harvested << " " << y;
      const TileRef right = grid.At(18, 12 + y);
      if (row.x18[y / 3] == kNone) {
        EXPECT_EQ(right.kind, TileKind::kNone);
      } else {
        EXPECT_EQ(right.index, row.x18[y / 3]) << row.harvested << " " << y;
      }
    }
  }
}

TEST(GridMap, PhysicalDramPortsNameTheirBank) {
  const GridMap grid(DefaultOptions(Board::kP150));
  // (0,9) (0,4) (0,8) belong to bank 2, (9,5) (9,7) (9,6) to bank 7.
  for (const uint32_t y : {9, 4, 8}) EXPECT_EQ(grid.At(0, y).index, 2);
  for (const uint32_t y : {5, 7, 6}) EXPECT_EQ(grid.At(9, y).index, 7);
  EXPECT_EQ(grid.At(8, 0).kind, TileKind::kArc);
  EXPECT_EQ(grid.At(2, 0).kind, TileKind::kPcie);
  EXPECT_EQ(grid.At(19, 24).kind, TileKind::kPcie);
  EXPECT_EQ(grid.At(11, 0).kind, TileKind::kNone);  // the second PCIe tile is not the endpoint
  EXPECT_EQ(grid.At(63, 63).kind, TileKind::kNone);
}

}  // namespace
}  // namespace ttfd::sim::sim_grid_test
