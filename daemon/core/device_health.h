// State of the card as administrators see it, and what last went wrong.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/api/device_state.h"
#include "daemon/api/reply.h"
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
  // Fills in `state`, and `last_error` until another launch has ended.
  void Describe(bool draining, uint64_t launches, StatusReply* status) const
      ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    status->state = StateOf(state_, draining);
    if (launches == launches_before_) status->last_error = last_error_;
  }

 private:
  static DaemonState StateOf(DeviceState device, bool draining) {
    switch (device) {
      case DeviceState::kBooting:
        return DaemonState::kBooting;
      case DeviceState::kReady:
        return draining ? DaemonState::kDraining : DaemonState::kReady;
      case DeviceState::kRecovering:
        return DaemonState::kRecovering;
      case DeviceState::kFailed:
        return DaemonState::kFailed;
    }
    return DaemonState::kFailed;
  }

  mutable Mutex mu_;
  DeviceState state_ ABSL_GUARDED_BY(mu_) = DeviceState::kBooting;
  std::string last_error_ ABSL_GUARDED_BY(mu_);
  uint64_t launches_before_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
