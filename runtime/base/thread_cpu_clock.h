// The CPU time of the thread that asks.
#pragma once

#include <time.h>

#include "runtime/base/clock.h"

namespace ttfd {

// Stands still while the kernel runs other threads in its place. Every thread sees its own.
class ThreadCpuClock final : public Clock {
 public:
  TimePoint Now() override {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                          std::chrono::nanoseconds(time.tv_nsec)));
  }
};

}  // namespace ttfd
