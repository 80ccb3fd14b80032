// Decides when systemd's watchdog is fed: only after the daemon's heart has beaten since the last
// time. A daemon whose device thread is stuck is then restarted, although its other threads are
// well.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"

namespace ttfd {

class Watchdog {
 public:
  // Looks `kLooksPerPeriod` times a period, so that one late look is no reason for a restart.
  Watchdog(Duration period, uint64_t heartbeat, TimePoint now)
      : interval_(period / kLooksPerPeriod), heartbeat_(heartbeat), next_look_(now + interval_) {}

  TimePoint next_look() const { return next_look_; }

  // True: feed. To be called when next_look has come; before, it does nothing.
  bool Look(uint64_t heartbeat, TimePoint now);

 private:
  static constexpr int kLooksPerPeriod = 3;
  const Duration interval_;
  uint64_t heartbeat_;
  TimePoint next_look_;
};

}  // namespace ttfd
