// Requests of other threads to the device thread, and the sleep from which these wake it.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/card/in_flight.h"
#include "daemon/card/profiler.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

class CardRequests {
 public:
  struct Requests {
    std::vector<std::function<void(const Status&)>> resets;
    std::vector<Profiler::Request> profiles;
    std::vector<QuietRequest> quiets;
    std::optional<bool> in_use;
  };

  // ---- Any thread.

  // Adds a request and wakes the device thread.
  void Add(absl::FunctionRef<void(Requests*)> add) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    add(&requests_);
    added_.store(true, std::memory_order_release);
    if (asleep_) wake_.NotifyOne();
  }
  // Without a lock, but to wake a thread that sleeps.
  void Wake() ABSL_LOCKS_EXCLUDED(mu_) {
    woken_.store(true);
    if (!asleep_.load()) return;
    MutexLock lock(&mu_);
    wake_.NotifyOne();
  }
  // The device thread is to end once nothing is left to do, or at this time.
  void Stop(TimePoint by) ABSL_LOCKS_EXCLUDED(mu_) {
    SetStopTime(by);
    MutexLock lock(&mu_);
    stopping_.store(true, std::memory_order_release);
    if (asleep_) wake_.NotifyOne();
  }
  void SetStopTime(TimePoint by) {
    stop_by_.store(by.time_since_epoch().count(), std::memory_order_relaxed);
  }
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  bool StopIsOverdue(TimePoint now) const {
    return stopping() && now.time_since_epoch().count() >= stop_by_.load(std::memory_order_relaxed);
  }

  // ---- Device thread.

  // Woken, or something was added, since the last Take.
  bool pending() const { return woken_.load() || added_.load(std::memory_order_acquire); }
  Requests Take() ABSL_LOCKS_EXCLUDED(mu_) {
    woken_.store(false);
    if (!added_.load(std::memory_order_acquire)) return {};
    MutexLock lock(&mu_);
    added_.store(false, std::memory_order_relaxed);
    return std::exchange(requests_, {});
  }
  // Until it is woken. `busy`: there is work, for which a thread that is to stop continues.
  void Sleep(TimePoint until, bool busy) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    asleep_ = true;  // before it looks: a Wake that comes after that notifies
    if (!pending() && (busy || !stopping())) wake_.WaitUntil(&mu_, until);
    asleep_ = false;
  }

 private:
  std::atomic<bool> woken_{false};
  std::atomic<bool> added_{false};   // set under mu_
  std::atomic<bool> asleep_{false};  // set under mu_
  std::atomic<bool> stopping_{false};
  std::atomic<TimePoint::rep> stop_by_{TimePoint::max().time_since_epoch().count()};
  Mutex mu_;
  CondVar wake_;
  Requests requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
