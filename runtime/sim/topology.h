// Connections of the Ethernet channels of chips.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace ttfd::sim {

struct LinkEnd {
  uint32_t chip = 0;
  uint32_t channel = 0;
  bool operator==(const LinkEnd&) const = default;
};

// "1.9": channel 9 of chip 1.
std::string LinkEndText(LinkEnd end);

struct ChipLink {
  LinkEnd a;
  LinkEnd b;
  bool operator==(const ChipLink&) const = default;
};

struct Topology {
  uint32_t chips = 1;
  std::vector<ChipLink> links;
};

// Rows and columns of chips. Chip row * columns + column is linked with its neighbour in the next column and in the
// next row.
struct GridShape {
  static constexpr uint32_t kMostChips = 64;

  uint32_t rows = 1;
  uint32_t columns = 1;
  bool wrap_rows = false;  // the last chip of a column is linked with its first, too
  bool wrap_columns = false;
  uint32_t links = 2;  // between two neighbours, 1 to 4
};

// Channels are those of `channels` (one bit each) in ascending order: each chip takes the next free one for each link,
// in the order of the chips, columns before rows. INVALID_ARGUMENT: too many chips, or a chip needs more channels.
StatusOr<Topology> GridTopology(const GridShape& shape, uint32_t channels);

// INVALID_ARGUMENT names the end: a channel that is not one of `channels`, that is connected twice, or to its own chip;
// a chip without a link.
Status Validate(const Topology& topology, uint32_t channels);

}  // namespace ttfd::sim
