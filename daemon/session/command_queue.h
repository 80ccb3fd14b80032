// One queue of a session: its timeline, the commands that have not ended, the error it is in.
//
// Tasks wait in order of their values. A prefix of them is issued: handed to the device thread, or
// done on the host already. The first ends first:
//
//   completed        issued              sent
//      |  t t t t t t  |  t t t t t t t t  |
//         on the device   waiting
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/session/task.h"

namespace ttfd {

// Values that ended with an error, for commands that wait on them later. Bounded: of the oldest values the outcome is
// unknown once more than kRanges failures have followed.
class FailureHistory {
 public:
  static constexpr size_t kRanges = 1024;

  void Add(uint64_t first, uint64_t last, QueuePosition cause);
  // The first cause, if the command with this value is known to have failed.
  const QueuePosition* CauseOf(uint64_t value) const;
  // The command has ended, but whether it failed is not recorded any more.
  bool OutcomeUnknown(uint64_t value) const { return value <= unknown_through_; }

 private:
  struct Range {
    uint64_t first;
    uint64_t last;
    QueuePosition cause;
  };
  std::deque<Range> ranges_;  // ascending
  uint64_t unknown_through_ = 0;
};

struct CommandQueue {
  CommandQueue(uint32_t its_id, const Route& route)
      : id(its_id), track(std::make_shared<WorkTrack>(route)) {}

  const uint32_t id;
  std::shared_ptr<WorkTrack> track;  // its route, and how far the device thread is with it
  bool never_opened = false;         // its OpenQueue failed; what is sent here ends ABORTED

  uint64_t sent = 0;
  uint64_t completed = 0;
  std::shared_ptr<TraceObject> recording;  // goes on in the next command

  std::deque<std::unique_ptr<Task>> tasks;
  size_t issued = 0;
  uint64_t works = 0;           // handed so far
  std::vector<WorkWait> after;  // of the next work: what tasks issued before it wait for
  size_t waiting = 0;           // issued tasks that wait for values of other queues
  uint32_t handed_works = 0;
  uint64_t handed_bytes = 0;

  // A task has an error, or will have that of a value it waits for, and is not at the head: what comes from this
  // value on will not run. 0: none.
  uint64_t doomed_from = 0;
  // The queue has failed and waits to be cleared. 0: no.
  uint64_t failed_value = 0;
  QueuePosition cause;
  FailureHistory failures;
  uint64_t times_failed =
      0;  // or was doomed: changes whenever those who wait for it may fail with it
  uint64_t failures_known = 0;  // of all queues, when those that wait here were last looked at
  std::vector<uint64_t> failed_handles;  // handles that name nothing because of this queue's error

  bool failed() const { return failed_value != 0; }
  bool doomed() const { return doomed_from != 0; }
  // Commands that come are not refused because of commands before them.
  bool accepts() const { return !failed() && !doomed() && !never_opened; }
  bool Ended(uint64_t value) const { return value <= completed; }
  // Everything up to this value has been handed to the device thread, or is done.
  bool Issued(uint64_t value) const;
  // The last work handed for values up to this one, which has been issued and has not ended.
  uint64_t LastWork(uint64_t value) const;
  // The task that stands for this value; null if it has ended or will not run.
  Task* Find(uint64_t value) const;
  void Doom(Task* task, ErrorReply error);
  // The same for a task whose error is still to come.
  void DoomFrom(const Task& task);
};

}  // namespace ttfd
