// The earliest time at which something is due. Thread-safe, without a lock.
#pragma once

#include <atomic>

#include "runtime/base/clock.h"

namespace ttfd {

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
  // True if it is due: nothing is then, until it is lowered again. Call before doing what is due.
  bool TakeIfDue(TimePoint now) {
    if (now < time_.load(std::memory_order_relaxed)) return false;
    return time_.exchange(TimePoint::max(), std::memory_order_acq_rel) <= now;
  }

 private:
  std::atomic<TimePoint> time_{TimePoint::max()};
};

}  // namespace ttfd
