// The CPU time of a role that threads hold in turn.
#pragma once

#include <time.h>

#include "runtime/base/clock.h"

namespace ttfd {

// Stands still while the kernel runs other threads in place of the holder, and while no thread holds the role. Called
// by the holder only; who passes the role on orders the calls.
class RoleCpuClock final : public Clock {
 public:
  // The calling thread holds the role from here on.
  void Take() { taken_at_ = ThreadTime(); }
  void Leave() { before_ = Now(); }
  TimePoint Now() override { return before_ + (ThreadTime() - taken_at_); }

 private:
  static Duration ThreadTime() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                std::chrono::nanoseconds(time.tv_nsec));
  }

  TimePoint before_{};   // of all holders before this one
  Duration taken_at_{};  // on the clock of the holder
};

}  // namespace ttfd
