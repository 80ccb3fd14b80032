// Errors of one queue: the command that fails it, the commands that fail with it, and those that failed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "daemon/api/request.h"

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

// Device thread.
class QueueErrors {
 public:
  // Commands that come are not refused because of commands before them.
  bool accepts() const { return !failed() && !failing() && !never_opened_; }

  // An operation has an error, or will have that of a value that it waits for, and is not the first of the queue.
  bool failing() const { return failing_from_ != 0; }
  uint64_t failing_from() const { return failing_from_; }
  // The command with this value will not run.
  bool IsFailing(uint64_t value) const { return failing() && value >= failing_from_; }
  void MarkFailing(uint64_t from);

  // The queue has failed with this command, and waits to be cleared. 0: it has not.
  uint64_t failed_value() const { return failed_value_; }
  bool failed() const { return failed_value_ != 0; }
  QueuePosition cause() const { return cause_; }
  // The command `first` has failed, and those behind it up to `last` with it.
  void Fail(uint64_t first, uint64_t last, QueuePosition cause);
  // The client clears the error: commands are accepted again.
  void Clear() { failed_value_ = 0; }

  // The queue's OpenQueue failed; what is sent here ends ABORTED.
  bool never_opened() const { return never_opened_; }
  void set_never_opened(bool value) { never_opened_ = value; }

  FailureHistory& history() { return history_; }
  const FailureHistory& history() const { return history_; }
  // How often the queue has failed, or was failing: grows whenever those who wait for it may fail with it.
  uint64_t times() const { return times_; }
  // The same of all queues: false if there is no new one since the last call.
  bool SeesNew(uint64_t failures) { return std::exchange(failures_seen_, failures) != failures; }

  // Handles that name nothing because of the queue's error.
  void AddFailedHandle(uint64_t handle) { failed_handles_.push_back(handle); }
  std::vector<uint64_t> TakeFailedHandles() { return std::exchange(failed_handles_, {}); }

 private:
  bool never_opened_ = false;
  uint64_t failing_from_ = 0;
  uint64_t failed_value_ = 0;
  QueuePosition cause_;
  FailureHistory history_;
  uint64_t times_ = 0;
  uint64_t failures_seen_ = 0;
  std::vector<uint64_t> failed_handles_;
};

}  // namespace ttfd
