// State of a card as administrators see it, and what last went wrong.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/api/device_state.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe.
class DeviceHealth {
 public:
  // `why`: what made the card be reset, or why it is lost; `launches`: that have ended until then.
  void Set(DeviceState state, const std::string& why, uint64_t launches) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    state_ = state;
    if (why.empty()) return;
    last_error_ = why;
    launches_before_ = launches;
  }
  DeviceState state() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return state_;
  }
  // Why the card was last reset or has failed, until another of so many launches has ended.
  std::string LastError(uint64_t launches) const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return launches == launches_before_ ? last_error_ : "";
  }

 private:
  mutable Mutex mu_;
  DeviceState state_ ABSL_GUARDED_BY(mu_) = DeviceState::kBooting;
  std::string last_error_ ABSL_GUARDED_BY(mu_);
  uint64_t launches_before_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
