// Time as an argument: code that waits takes a Clock, tests pass a ManualClock.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/base/mutex.h"

namespace ttfd {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

// How long a thread waits that has nothing to do: no wait is without an end.
inline constexpr Duration kIdleWait = std::chrono::hours(1);

// Whole milliseconds; 0 of a negative time.
constexpr uint64_t MillisecondsOf(Duration time) {
  return time < Duration::zero() ? 0 : static_cast<uint64_t>(time / std::chrono::milliseconds(1));
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() = 0;
  // Blocks the thread for `time`, of the machine's monotonic clock where a clock has no time of its own to pass.
  virtual void Sleep(Duration time);
};

// The machine's monotonic clock. Thread-safe.
Clock& SteadyClock();

// Another clock with the times left out during which it was stopped. Thread-safe if that one is.
class StoppableClock final : public Clock {
 public:
  // `of` outlives this.
  explicit StoppableClock(Clock& of) : of_(of) {}
  TimePoint Now() override ABSL_LOCKS_EXCLUDED(mu_);
  void Sleep(Duration time) override { of_.Sleep(time); }
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  void Go() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Clock& of_;
  Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  TimePoint stopped_at_ ABSL_GUARDED_BY(mu_);
  Duration left_out_ ABSL_GUARDED_BY(mu_){};
};

// A clock that moves only when told. Not thread-safe.
class ManualClock final : public Clock {
 public:
  TimePoint Now() override { return now_; }
  void Sleep(Duration time) override { Advance(time); }
  void Advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{};
};

}  // namespace ttfd
