// How a session cuts commands and payload into messages: what the daemon's limits allow, and how much
// is gathered into one message. Pure; constant after the Welcome.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// Size that a command, or another part, adds to the message that carries it.
struct MessageSize {
  size_t bytes = 0;       // encoded, an estimate that is never too small
  uint64_t commands = 0;  // exact

  MessageSize& operator+=(const MessageSize& other) {
    bytes += other.bytes;
    commands += other.commands;
    return *this;
  }
  friend MessageSize operator+(MessageSize a, const MessageSize& b) { return a += b; }
};

struct MessageLimits {
  // Cost up to which commands and payload are gathered: seven chunks of 64 KiB with their headers.
  static constexpr uint64_t kMostGathered = 512 << 10;

  uint32_t batch_commands = 1;
  uint64_t command_bytes = 0;  // window cost of a command besides its bytes
  uint64_t most_gathered = kMostGathered;
  size_t max_bytes = SIZE_MAX;  // of a message
  size_t chunk_bytes = 0;       // payload of one Data
  size_t inline_bytes = 0;      // payload of one command that carries it
  // Cost that the window always has space for once the session's commands have ended, as the API
  // guarantees.
  uint64_t guaranteed_cost = 0;

  // `batch_commands`: of ConnectOptions.
  static MessageLimits From(const Limits& limits, uint32_t batch_commands);

  uint64_t Cost(const MessageSize& size) const {
    return size.bytes + size.commands * command_bytes;
  }
  // Cost up to which a message is gathered, so that it can be sent: now, because `window_available` has
  // space for it, or when the commands before it have ended.
  uint64_t GatherCost(uint64_t window_available) const {
    return std::max(guaranteed_cost, std::min(most_gathered, window_available));
  }
  // RESOURCE_EXHAUSTED: a message with nothing but a part of this size exceeds a limit.
  Status Check(const MessageSize& size) const;
};

}  // namespace ttfd::client
