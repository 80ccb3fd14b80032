// The state of a hardware queue and of its commands on the card, by the host's own records. Values only, as
// CardSnapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/command/worker_counts.h"

namespace ttfd {

// The launches of a command, all of them counted on the stream of their workers.
struct LaunchCounts {
  uint32_t stream = 0;
  uint64_t first_go = 0;  // of the go signals of the stream since the boot, from 1
  uint64_t last_go = 0;
  uint64_t behind = 0;   // the workers' count when the last is answered
  uint32_t counter = 0;  // what the stream's counter shows then
};

struct CommandState {
  uint64_t ticket = 0;
  uint32_t first_entry = 0;   // of the issue ring, that has anything of it
  uint32_t event_before = 0;  // id of the last event that the dispatcher executes before it
  std::optional<LaunchCounts> launches;
};

struct QueueState {
  uint32_t entries_announced = 0;
  uint32_t entries_taken = 0;       // by the last event or read of the count
  bool awaits_completions = false;  // of an event or a read
  uint32_t events_received = 0;
  uint32_t events_encoded = 0;
  uint32_t completion_pages_read = 0;   // as the host told the card
  StreamCounts gos{};                   // go signals of each stream since the boot
  StreamCounts launched{};              // answers that those ask for
  StreamCounts base{};                  // of which the stream's counter has been cleared
  std::vector<CommandState> in_flight;  // in the order of their tickets
};

// State of a command when the card has been stopped. Whatever is not certain is kUnknown.
enum class ExecutionState {
  kNotStarted,  // nothing of it has happened
  kRunning,     // it may have started; it has not ended
  kUnknown,
  kCompleted,
};

}  // namespace ttfd
