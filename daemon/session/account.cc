// Adding up.
#include "daemon/session/account.h"

#include <algorithm>
#include <bit>

namespace ttfd {

size_t WaitHistogram::ClassOf(uint64_t microseconds) {
  if (microseconds < kSteps) return microseconds;
  const auto octave = static_cast<size_t>(std::bit_width(microseconds / kSteps));
  const size_t step = (microseconds >> (octave - 1)) - kSteps;
  return std::min(octave * kSteps + step, kClasses - 1);
}

uint64_t WaitHistogram::EndOf(size_t index) {
  const size_t octave = index / kSteps;
  const uint64_t step = index % kSteps;
  return octave == 0 ? step + 1 : (kSteps + step + 1) << (octave - 1);
}

void WaitHistogram::Add(Duration wait) {
  wait = std::max(wait, Duration::zero());
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(wait);
  ++classes_[ClassOf(static_cast<uint64_t>(microseconds.count()))];
  ++count_;
  total_ += wait;
  max_ = std::max(max_, wait);
}

Duration WaitHistogram::Quantile(double part) const {
  uint64_t seen = 0;
  for (size_t i = 0; i < kClasses; ++i) {
    seen += classes_[i];
    if (seen == 0 || static_cast<double>(seen) < part * static_cast<double>(count_)) continue;
    return std::min<Duration>(max_, std::chrono::microseconds(EndOf(i)));
  }
  return max_;
}

void CardUse::Add(const Slice& ended) {
  device_time += ended.times.device_time;
  longest_work = std::max(longest_work, ended.times.device_time);
  launches += ended.launches;
  if (!ended.runs_kernels()) (ended.read ? bytes_read : bytes_written) += ended.bytes;
}

}  // namespace ttfd
