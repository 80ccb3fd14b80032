// Number of calls under way, for a stop that waits for them.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe.
class CallCount {
 public:
  void Add() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++calls_;
  }
  void Remove() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (--calls_ == 0) none_.NotifyAll();
  }
  // True when no call is left; false at `deadline`.
  bool WaitUntilNone(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (calls_ > 0) {
      if (!none_.WaitUntil(&mu_, deadline)) return calls_ == 0;
    }
    return true;
  }

 private:
  Mutex mu_;
  CondVar none_;
  uint64_t calls_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
