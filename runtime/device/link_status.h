// State of the Ethernet links of a chip, as the link firmware of each Ethernet tile publishes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace ttfd {

// kUnknown: the tile does not answer, or its link firmware has not trained the link yet.
enum class LinkState { kUnknown, kUp, kDown, kUnused };

// The other end of a link.
struct LinkPeer {
  uint64_t board = 0;  // id, with the type of the board
  uint64_t asic = 0;   // 0: link firmware before 1.6.1
  uint32_t channel = 0;
  uint32_t logical_channel = 0;  // rank of the channel among the enabled ones of its chip
  uint32_t location = 0;         // of the ASIC on its board
  bool operator==(const LinkPeer&) const = default;
};

struct LinkStatus {
  uint32_t channel = 0;
  LinkState state = LinkState::kUnknown;
  std::optional<LinkPeer> peer;  // while the link is up
  uint32_t retrains = 0;         // since power-on
  std::string firmware;          // version of the link firmware: "1.7.0"
  bool operator==(const LinkStatus&) const = default;
};

// A link of a device to another device of the same daemon.
struct Neighbour {
  uint32_t channel = 0;
  uint32_t device = 0;        // index of the other
  uint32_t peer_channel = 0;  // of the other
  bool system = false;        // one of the two is driven through it: not for kernels
  bool operator==(const Neighbour&) const = default;
};

// One entry for each enabled channel of the chip, ascending. Three loads a channel, and five more where the link is up.
std::vector<LinkStatus> ReadLinks(Device& device);

}  // namespace ttfd
