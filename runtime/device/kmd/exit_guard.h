// Harts that the driver holds in reset when this process ends, however it ends.
//
// Pinned memory is unpinned then, and a card that still fetches commands would access what other processes get. The
// driver writes one word to the card for each descriptor that it closes (SET_NOC_CLEANUP, 2.2), so each tile takes a
// descriptor; the word is the tile's SOFT_RESET_0. The driver gives the card no time between the write and the end of
// the pinnings: accesses under way find no iATU region (docs/adr/0033).
#pragma once

#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/kmd/node.h"

namespace ttfd::kmd {

class ExitGuard {
 public:
  // `node` outlives it.
  explicit ExitGuard(Node& node) : node_(node) {}
  ~ExitGuard() { Clear(); }

  // In place of the tiles before. Does nothing with a driver that cannot.
  Status Set(std::span<const hw::Coordinate> tiles);
  // Holds the harts now.
  void Clear();

 private:
  Status Add(hw::Coordinate tile);

  Node& node_;
  std::vector<int> descriptors_;
};

}  // namespace ttfd::kmd
