// The way of a command to the card: which hardware queue carries it, and whose kernels it is ordered
// against.
#pragma once

#include <cstdint>

#include "runtime/abi/control_block.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

inline constexpr uint32_t kHardwareQueues = abi::kMaxHardwareQueues;

// Commands of one route take effect as if each began when the one before had ended. Routes that share
// a hardware queue or workers may be ordered more than that, never less; others overlap.
struct Route {
  uint32_t hardware_queue = 0;  // CQ0 or CQ1
  // A sub-device: launches run on these workers only, transfers wait for kernels on them. None: all.
  TileSet workers;
  bool operator==(const Route&) const = default;
};

}  // namespace ttfd
