// A clock that moves by a step whenever somebody looks: waits end after so many looks, whatever the machine's load.
#pragma once

#include "runtime/base/clock.h"

namespace ttfd {

// Not thread-safe.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(Duration step) : step_(step) {}
  TimePoint Now() override { return now_ += step_; }
  void Sleep(Duration time) override { now_ += time; }

 private:
  const Duration step_;
  TimePoint now_{};
};

}  // namespace ttfd
