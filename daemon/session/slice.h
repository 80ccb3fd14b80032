// The part of a command that the card is given at once: at most one slice of a transfer, one launch or one segment of a
// trace, so that no client holds the card for longer than that.
//
// A slice waits in its queue (QueueSlices) until the card has taken it, and is on the card until it ends. A reset may
// take it off the card; it is then the next of its queue again. Device thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/share.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/queue_state.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"

namespace ttfd {

struct Operation;
class Outbox;
struct SessionQueue;

// Everything of `queue` up to the command with this value.
struct QueueWait {
  const SessionQueue* queue = nullptr;  // of the same session
  uint64_t value = 0;
};

// The bytes that a slice reads, with the space in the session's output that is reserved for them.
struct ReadPart {
  // `outbox` outlives it; null: nothing is reserved.
  ReadPart(Outbox* outbox, uint64_t offset, uint64_t size);
  ~ReadPart();
  ReadPart(const ReadPart&) = delete;
  ReadPart& operator=(const ReadPart&) = delete;

  std::string data;
  const uint64_t offset;  // in what the client asked for

 private:
  Outbox* const outbox_;
  const uint64_t size_;
};

struct SliceTimes {
  Duration cost{};         // estimated device time, set by the scheduler
  TimePoint arrived;       // when the daemon received the command
  TimePoint submitted;     // when the card took the slice
  TimePoint began;         // once it has ended: when the card came to it
  Duration device_time{};  // and how long it had the card
};

struct Slice {
  SessionQueue* queue = nullptr;
  std::shared_ptr<Operation> operation;
  Route route;  // that of the queue; while others lease workers, without these if it named none
  std::vector<QueueWait> after;  // on other queues of the session
  Command command;
  std::string payload;             // of a write; its span in `command` is set when it is submitted
  std::unique_ptr<ReadPart> read;  // of a read; the command's sink appends to it
  uint64_t bytes = 0;              // moved
  uint64_t launches = 0;           // it runs: 1, or those of the segment of a trace that it replays
  // The ids of the programs it runs; not null if there are launches.
  std::shared_ptr<const std::vector<uint32_t>> programs;
  // Timeout of a launch; of each launch of a trace; of anything else without progress, where zero is the daemon's.
  Duration timeout{};
  uint32_t suspected = 0;  // so many times the card stopped when it was next
  bool first = true;       // of its command: the command begins with it
  SliceTimes times;

  const SessionShare& share() const;
  uint64_t value() const;  // of the command
  bool runs_kernels() const { return launches > 0; }
  // Runs kernels on workers of its own, next to everything that does not need these.
  bool independent() const { return runs_kernels() && route.workers.any(); }
  // The card waits for what is on it already, if that ends soon: it would hold up others meanwhile.
  bool MayBeTaken(Duration longest_wait) const;
};

// Why slices did not run to their end.
struct SliceError {
  StatusCode code = StatusCode::kInternal;
  std::string reason;  // of the API: HANG, DEVICE_FAULT, DEVICE_RESET
  std::string message;
  bool retryable = false;
  std::string hang_report = {};                     // id of the report that explains it
  ExecutionState state = ExecutionState::kUnknown;  // of the slice

  SliceError With(ExecutionState of_slice) const {
    SliceError error = *this;
    error.state = of_slice;
    return error;
  }
};

// Error of a slice that a reset of the card, or its loss, has ended.
inline SliceError ResetError(const std::string& why) {
  return {StatusCode::kUnavailable, "DEVICE_RESET", why, true};
}

}  // namespace ttfd
