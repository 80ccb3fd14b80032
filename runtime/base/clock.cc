#include "runtime/base/clock.h"

#include <thread>

namespace ttfd {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() override { return std::chrono::steady_clock::now(); }
};

}  // namespace

void Clock::Sleep(Duration time) { std::this_thread::sleep_for(time); }

Clock& SteadyClock() {
  static RealClock clock;
  return clock;
}

TimePoint StoppableClock::Now() {
  MutexLock lock(&mu_);
  return (stopped_ ? stopped_at_ : of_.Now()) - left_out_;
}

void StoppableClock::Stop() {
  MutexLock lock(&mu_);
  if (stopped_) return;
  stopped_ = true;
  stopped_at_ = of_.Now();
}

void StoppableClock::Go() {
  MutexLock lock(&mu_);
  if (!stopped_) return;
  stopped_ = false;
  left_out_ += of_.Now() - stopped_at_;
}

}  // namespace ttfd
