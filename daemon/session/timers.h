// Times at which the device thread has something to check: deadlines of sessions, leases, a drain, unused memory.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"

namespace ttfd {

// An earliest time. Thread-safe, without a lock.
class DueTime {
 public:
  TimePoint Get() const { return time_.load(std::memory_order_acquire); }
  // True: it is earlier than before.
  bool Lower(TimePoint to) {
    TimePoint before = time_.load(std::memory_order_relaxed);
    while (to < before) {
      if (time_.compare_exchange_weak(before, to, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  // True if it is due: nothing is then, until it is lowered again.
  bool TakeIfDue(TimePoint now) {
    if (now < time_.load(std::memory_order_relaxed)) return false;
    return time_.exchange(TimePoint::max(), std::memory_order_acq_rel) <= now;
  }

 private:
  std::atomic<TimePoint> time_{TimePoint::max()};
};

class Timers;

// One check, and when it is due next.
class Timer {
 public:
  // `timers` outlives the timer. `run` is called on the device thread, and sets the next time itself.
  Timer(Timers& timers, std::function<void(TimePoint now)> run);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Runs the check at this time at the latest. Any thread; does not block.
  void RunBy(TimePoint when);

 private:
  friend class Timers;

  Timers& timers_;
  const std::function<void(TimePoint now)> run_;
  DueTime due_;
};

// All timers of a device thread.
class Timers {
 public:
  // `wake` has the device thread look at next() again; called on any thread.
  explicit Timers(std::function<void()> wake) : wake_(std::move(wake)) {}

  // TimePoint::max(): no timer is set. Any thread.
  TimePoint next() const { return next_.Get(); }
  // Runs the checks that are due, in the order in which the timers were made. False: none is. Device thread.
  bool RunDue(Clock& clock) {
    if (next_.Get() == TimePoint::max()) return false;
    const TimePoint now = clock.Now();
    // A timer that is set while these run lowers the time again.
    if (!next_.TakeIfDue(now)) return false;
    for (Timer* const timer : timers_) {
      if (timer->due_.TakeIfDue(now)) {
        timer->run_(now);
      } else {
        next_.Lower(timer->due_.Get());
      }
    }
    return true;
  }

 private:
  friend class Timer;

  const std::function<void()> wake_;
  std::vector<Timer*> timers_;  // complete before the device thread starts
  DueTime next_;                // the earliest of all
};

inline Timer::Timer(Timers& timers, std::function<void(TimePoint now)> run)
    : timers_(timers), run_(std::move(run)) {
  timers_.timers_.push_back(this);
}

inline void Timer::RunBy(TimePoint when) {
  if (due_.Lower(when) && timers_.next_.Lower(when)) timers_.wake_();
}

}  // namespace ttfd
