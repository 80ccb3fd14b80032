// How far a command was when the card was stopped.
#include "runtime/card/execution_state.h"

#include "runtime/abi/host_queue.h"
#include "runtime/abi/rings.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

// Has the dispatcher published the event? Where the tile cannot be read, what the host has received decides. A word
// that no event explains proves nothing.
bool HasPassedEvent(const QueueSnapshot* queue, const QueueState& host, uint32_t event) {
  uint32_t published = host.events_received;
  if (queue != nullptr) {
    published =
        queue->dispatch_block
            .completion_staging[offsetof(abi::CompletionPointer, last_event) / sizeof(uint32_t)];
  }
  if (published - host.events_received > host.events_encoded - host.events_received) return true;
  return abi::CounterReached(published, event);
}

// Go signals of a stream since the boot. A count that the launches do not explain proves nothing.
std::optional<uint64_t> GosSent(const QueueSnapshot& queue, const QueueState& host,
                                uint32_t stream) {
  const uint64_t encoded = host.gos[stream];
  const uint32_t outstanding =
      static_cast<uint32_t>(encoded) - queue.dispatch_block.gos_sent[stream];
  if (outstanding > encoded) return std::nullopt;
  return encoded - outstanding;
}

}  // namespace

uint32_t EntriesTaken(const QueueSnapshot& queue, const QueueState& host) {
  const uint32_t taken = queue.prefetch_block.entries_fetched.value;
  const uint32_t most = host.entries_announced - host.entries_taken;
  return taken - host.entries_taken <= most ? taken : host.entries_taken;
}

// The dispatcher executes its commands in order, and no go signal is sent without its NOTIFY: what was submitted after
// an event that the dispatcher has not published has not started.
//
// dispatch_s counts a go signal before it sends it, and sends the next of a stream when all workers have answered it.
// So it is known whether the first and the last go of a command were sent, and whether the last was answered: by the
// next one, or by the stream's counter.
ExecutionState StateOf(const QueueSnapshot* queue, const QueueState& host,
                       const CommandState& command) {
  if (!HasPassedEvent(queue, host, command.event_before)) return ExecutionState::kNotStarted;
  if (queue == nullptr) return ExecutionState::kUnknown;
  if (abi::CounterReached(command.first_entry, EntriesTaken(*queue, host))) {
    return ExecutionState::kNotStarted;
  }
  if (!command.launches.has_value()) return ExecutionState::kUnknown;
  const LaunchCounts& launches = *command.launches;
  const std::optional<uint64_t> sent = GosSent(*queue, host, launches.stream);
  if (!sent.has_value()) return ExecutionState::kUnknown;
  if (*sent < launches.first_go) return ExecutionState::kNotStarted;
  if (*sent < launches.last_go) return ExecutionState::kRunning;
  if (*sent > launches.last_go) return ExecutionState::kCompleted;
  // A trace behind it clears the counter, once it has ended; zero is what the counter of a trace begins with, too.
  const uint32_t shows = queue->streams[launches.stream];
  if (shows == 0 && host.base[launches.stream] >= launches.behind) return ExecutionState::kUnknown;
  return hw::StreamCounterReached(shows, launches.counter) ? ExecutionState::kCompleted
                                                           : ExecutionState::kRunning;
}

}  // namespace ttfd
