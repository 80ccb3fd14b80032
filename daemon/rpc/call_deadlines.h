// Ends calls whose client does not say what it wants, or does not take what it asked for.
//
// One thread looks at all calls once a period; without calls it sleeps.
#pragma once

#include <memory>
#include <thread>
#include <unordered_map>

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
  CallDeadlines(Clock& clock, Duration period) : clock_(clock), period_(period) {}
  ~CallDeadlines() { Stop(); }

  void Start();
  void Stop();

  void Add(std::shared_ptr<DeadlineTask> task) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(const DeadlineTask* task) ABSL_LOCKS_EXCLUDED(mu_);
  // True when no call is left; false at `deadline`.
  bool WaitUntilNone(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  TimePoint Now() { return clock_.Now(); }

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);

  Clock& clock_;
  const Duration period_;
  Mutex mu_;
  CondVar changed_;  // for the thread: calls where there were none, or the end
  CondVar none_;     // no call is left
  std::unordered_map<const DeadlineTask*, std::shared_ptr<DeadlineTask>> tasks_
      ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ttfd
