// Time as an argument: code that waits takes a Clock, tests pass a ManualClock.
#pragma once

#include <chrono>

namespace ttfd {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() = 0;
};

// The machine's monotonic clock. Thread-safe.
Clock& SteadyClock();

// A clock that moves only when told. Not thread-safe.
class ManualClock final : public Clock {
 public:
  TimePoint Now() override { return now_; }
  void Advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{};
};

}  // namespace ttfd
