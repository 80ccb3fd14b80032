// Intervals between polls of something that moves by itself.
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/base/clock.h"

namespace ttfd {

// Polls come without a pause for `spin` after something happened; then each pause is twice the one before, from kFirst
// up to kLongest. A shorter pause than kFirst is none: a thread that is woken needs tens of microseconds.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::microseconds(20);
  static constexpr Duration kLongest = std::chrono::microseconds(500);

  explicit Backoff(Duration spin) : spin_(spin) {}

  // Something happened.
  void Restart() { quiet_since_.reset(); }
  // The pause after a poll at `now` that found nothing. Zero: none.
  Duration Next(TimePoint now) {
    if (!quiet_since_.has_value()) {
      quiet_since_ = now;
      pause_ = Duration::zero();
    }
    if (now - *quiet_since_ < spin_) return Duration::zero();
    pause_ = std::clamp(2 * pause_, kFirst, kLongest);
    return pause_;
  }

 private:
  const Duration spin_;
  std::optional<TimePoint> quiet_since_;  // none: something happened since the last poll
  Duration pause_{};
};

}  // namespace ttfd
