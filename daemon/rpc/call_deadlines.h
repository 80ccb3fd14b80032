// Ends calls whose client does not send its first message, or does not read or acknowledge; and has acks sent in time.
//
// One thread checks all calls once a period, and single calls when they ask for it; without calls it sleeps.
#pragma once

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

class DeadlineTask {
 public:
  virtual ~DeadlineTask() = default;
  virtual void CheckDeadlines(TimePoint now) = 0;
};

class CallDeadlines {
 public:
  // Checks that calls ask for are gathered: one may be so much later than it was asked for.
  static constexpr Duration kRound = std::chrono::milliseconds(5);

  CallDeadlines(Clock& clock, Duration period) : clock_(clock), period_(period) {}
  ~CallDeadlines() { Stop(); }

  void Start();
  void Stop();

  void Add(std::shared_ptr<DeadlineTask> task) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(const DeadlineTask* task) ABSL_LOCKS_EXCLUDED(mu_);
  // Checks the task once more, not before `when`. Of several times the earliest counts.
  void CheckAt(const DeadlineTask* task, TimePoint when) ABSL_LOCKS_EXCLUDED(mu_);
  // True when no call is left; false at `deadline`.
  bool WaitUntilNone(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  TimePoint Now() { return clock_.Now(); }

 private:
  struct Entry {
    std::shared_ptr<DeadlineTask> task;
    TimePoint check_at = TimePoint::max();  // besides the period
  };
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the tasks that are due; sets when the next one is.
  std::vector<std::shared_ptr<DeadlineTask>> TakeDue(TimePoint now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock& clock_;
  const Duration period_;
  Mutex mu_;
  CondVar changed_;  // for the thread: an earlier check, or the end
  CondVar none_;     // no call is left
  std::unordered_map<const DeadlineTask*, Entry> tasks_ ABSL_GUARDED_BY(mu_);
  TimePoint next_period_ ABSL_GUARDED_BY(mu_) = TimePoint::min();
  TimePoint next_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // when the thread checks, at the latest
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ttfd
