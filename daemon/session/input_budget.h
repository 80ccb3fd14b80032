// How much of its input a session has handled in one turn of the device thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttfd {

// A single command may pass it, but for one that records or replays a trace, which is decoded in several turns.
struct InputBudget {
  uint64_t commands = 64;  // and batches, chunks of data, cancellations, results of host work
  uint64_t parts = 1024;   // nested messages of commands, KiB of payload

  bool spent() const { return commands == 0 || parts == 0; }
  // False: the budget is spent already.
  bool Spend(uint64_t some_commands, uint64_t some_parts) {
    if (spent()) return false;
    commands -= std::min(commands, some_commands);
    parts -= std::min(parts, some_parts);
    return true;
  }
};

}  // namespace ttfd
