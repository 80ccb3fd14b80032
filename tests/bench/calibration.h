// How fast the host is right now: a fixed loop, so that a busy or throttled machine shows beside the figures.
#pragma once

#include <chrono>

namespace ttfd::bench {

// Million rounds per second of a loop of dependent integer instructions on one core, over about `budget`. Touches no
// memory and makes no system call but the two that read the clock.
double CalibrationMillionPerSecond(std::chrono::nanoseconds budget);

}  // namespace ttfd::bench
