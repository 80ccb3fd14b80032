// Hangs and faults of a session's launches, and the quarantine that follows too many of them within a while: what has
// not started and what the session sends is refused until an administrator releases it, or as much time has passed
// again. Pure data: no thread, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "daemon/session/reply.h"
#include "runtime/base/clock.h"

namespace ttfd {

class Quarantine {
 public:
  // A launch hung or faulted, which a report describes. True: the quarantine begins with this one.
  bool AddHang(const std::string& report, const HangPolicy& policy, TimePoint now);
  void End();

  bool active() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }  // empty: not active
  TimePoint until() const { return until_; }             // TimePoint::max(): not active
  uint32_t hangs() const { return hangs_; }              // ever

 private:
  uint32_t hangs_ = 0;
  std::deque<std::pair<TimePoint, std::string>> recent_;  // that count: when, and which report
  std::string reason_;
  TimePoint until_ = TimePoint::max();
};

}  // namespace ttfd
