// One piece of work for the device thread: a command that may start now, and who is told how it
// ended.
//
// A session resolves what its client asked for into works, each at most one slice of a transfer, one launch or one
// segment of a trace, so that the device thread never holds the card for one client longer than that. Works
// go down by value, answers come up through WorkOwner.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/engine/work_track.h"
#include "daemon/hang/session_client.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/command/command.h"

namespace ttfd {

class BusyWorkers;
class WorkOwner;

// A factor of a session's share of the card.
enum class Priority : uint8_t { kLow = 1, kNormal, kHigh };  // the numbers of the API
inline const char* PriorityName(Priority priority) {
  constexpr const char* kNames[] = {"low", "normal", "high"};
  return kNames[static_cast<size_t>(priority) - 1];
}

// What an owner derives the thing from that a work belongs to (a session's task).
struct WorkContext {
  // Its owner will refuse the works that have not started: they need not wait for anything. Set once, by any thread.
  std::atomic<bool> unwanted{false};
};

struct Work {
  std::shared_ptr<WorkOwner> owner;
  WorkContext* context = nullptr;  // lives until the owner heard the end of the work
  uint64_t flow = 0;               // who pays: the session
  uint32_t uid = 0;                // and the session's user
  uint32_t weight = 1;             // its share of a contended card
  Priority priority = Priority::kNormal;
  uint32_t queue = 0;                // works of one queue of one flow keep their order
  uint64_t value = 0;                // for people
  uint64_t lease = 0;                // it is done under; 0: none
  std::shared_ptr<WorkTrack> track;  // of the queue; not null
  Route route;  // that of the track; while others lease workers, without these if it named none
  uint64_t number = 0;          // on the track, dense from 1
  std::vector<WorkWait> after;  // on other queues; not taken before MayBeTaken
  Command command;
  std::string payload;  // of a write; its span in `command` is set when it is submitted
  std::unique_ptr<std::string> read_into;  // of a read; the command's sink appends to it
  uint64_t read_offset = 0;  // of a read: where these bytes lie in what the client asked for
  uint64_t bytes = 0;        // moved
  uint64_t launches = 0;     // it runs: 1, or those of the segment of a trace that it replays
  // The ids of the programs it runs; not null if there are launches.
  std::shared_ptr<const std::vector<uint32_t>> programs;
  // Of a launch; of each launch of a trace; of anything else without progress, where zero is the daemon's.
  Duration timeout{};
  uint32_t suspected = 0;  // so many times the card stopped when its turn had come
  Duration cost{};         // estimated device time, set by whoever orders works
  TimePoint arrived;       // when the daemon got the command it is of
  bool first = true;       // of its command: the command begins with it
  // Set by the device thread: when it was given to the card; once it has ended, when the card came to it, and how long
  // it had the card.
  TimePoint submitted;
  TimePoint began;
  Duration device_time{};

  bool runs_kernels() const { return launches > 0; }
  bool unwanted() const {
    return context != nullptr && context->unwanted.load(std::memory_order_relaxed);
  }
  // Runs kernels on workers of its own, beside whatever does not need these.
  bool apart() const { return runs_kernels() && route.workers.any(); }
  // The card waits for what is on it already, if that is soon done: it would hold up others meanwhile.
  bool MayBeTaken(Duration longest_wait) const {
    return std::all_of(after.begin(), after.end(), [longest_wait](const WorkWait& wait) {
      return wait.track->EndsWithin(wait.number, longest_wait);
    });
  }
};

// Why works did not run to their end.
struct WorkError {
  StatusCode code = StatusCode::kInternal;
  std::string reason;  // of the API: HANG, DEVICE_FAULT, DEVICE_RESET
  std::string message;
  bool retryable = false;
  std::string hang_report = {};                     // id of the report that explains it
  ExecutionState state = ExecutionState::kUnknown;  // of the work

  WorkError With(ExecutionState of_work) const {
    WorkError error = *this;
    error.state = of_work;
    return error;
  }
};

// All calls on the device thread. Each work ends exactly once: refused by Start, or Done, or Failed.
class WorkOwner {
 public:
  virtual ~WorkOwner() = default;
  // The client that pays, for reports and the log; constant.
  virtual const SessionClient& client() const = 0;
  // The work goes to the card next. False: it is not wanted any more and counts as ended.
  virtual bool Start(const Work& work, TimePoint now) = 0;
  // Works of this owner ended well, in the order of their start. The owner may take what they carry.
  virtual void Done(std::span<Work> works) = 0;
  virtual void Failed(const Work& work, const WorkError& error) = 0;
  // A kernel that the work launched has printed; before the work ends.
  virtual void Printed(const Work& work, KernelPrint print) = 0;
};

// Where the device thread finds the next work of a hardware queue: an order over the works of all sessions that
// go there. Each operation that was popped ends with Used or Refund, once. Device thread only.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual void Push(Work work) = 0;
  // Takes the next work that may be taken beside these, with its cost estimated; false if there is none.
  virtual bool Pop(const BusyWorkers& busy, Work* work) = 0;
  // Nothing may be taken, whatever is on the card.
  virtual bool empty() const = 0;
  virtual size_t size() const = 0;
  // What a popped work really took.
  virtual void Used(const Work& work, Duration device_time) = 0;
  // A popped work took nothing, or what it took is not known.
  virtual void Refund(const Work& work) = 0;
  // The flow has no works here and will have none any more.
  virtual void Forget(uint64_t flow) = 0;
};

// Of work that a reset of the card, or its loss, has ended.
inline WorkError ResetError(const std::string& why) {
  return {StatusCode::kUnavailable, "DEVICE_RESET", why, true};
}

}  // namespace ttfd
