// Use of the card by one session, and the time for which its commands waited for it.
#pragma once

#include <array>
#include <cstdint>

#include "daemon/session/slice.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Times, counted in classes that are a sixteenth of an octave or less wide. Not thread-safe.
class WaitHistogram {
 public:
  void Add(Duration wait);

  uint64_t count() const { return count_; }
  Duration total() const { return total_; }
  Duration max() const { return max_; }
  // At least so large a part of the waits, of 1, was no longer; at most 6 % too long. Zero: nothing has waited.
  Duration Quantile(double part) const;

 private:
  static constexpr uint64_t kSteps = 16;  // classes of an octave
  // Beyond the first, which counts microseconds one by one: 19 hours.
  static constexpr size_t kOctaves = 32;
  static constexpr size_t kClasses = kSteps * (kOctaves + 1);
  static size_t ClassOf(uint64_t microseconds);
  static uint64_t EndOf(size_t index);  // microseconds

  std::array<uint32_t, kClasses> classes_{};
  uint64_t count_ = 0;
  Duration total_{};
  Duration max_{};
};

// Not thread-safe.
struct CardUse {
  Duration device_time{};
  Duration longest_work{};  // the most that one launch, replay or slice of a transfer had the card
  uint64_t launches = 0;
  uint64_t bytes_written = 0;  // into device memory: also zeros and copies
  uint64_t bytes_read = 0;

  void Add(const Slice& ended);
};

}  // namespace ttfd
