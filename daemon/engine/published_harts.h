// The state of the dispatch harts as the device thread read it last. Readers take the published value: however many
// ask, they neither wait for the device thread nor make it read the card more often than once in kPeriod.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/dispatch/stall_report.h"

namespace ttfd {

class PublishedHarts {
 public:
  // Between two readings of the card. Reading it costs a few PCIe reads a hart.
  static constexpr Duration kPeriod = std::chrono::milliseconds(250);

  // ---- any thread

  // The harts at the last reading. The device thread reads them after a boot, when it has become idle, and after a call
  // of this: at most once in kPeriod, and while it is idle only when it wakes (EngineOptions::idle_tick). Empty
  // before the first boot.
  std::vector<HartReport> Read() ABSL_LOCKS_EXCLUDED(mu_) {
    wanted_.store(true, std::memory_order_relaxed);
    MutexLock lock(&mu_);
    return harts_;
  }

  // ---- device thread

  // The card was booted, so that an idle device thread reads it again.
  void MarkChanged() { changed_ = true; }
  // At the end of a round: whether the card is to be read now. `idle`: nothing is left to do.
  bool IsDue(bool idle, Clock& clock) {
    changed_ = changed_ || !idle;
    const bool wanted = wanted_.load(std::memory_order_relaxed) || (idle && changed_);
    return wanted && clock.Now() - published_at_ >= kPeriod;
  }
  void Publish(std::vector<HartReport> harts, TimePoint now, bool idle) ABSL_LOCKS_EXCLUDED(mu_) {
    published_at_ = now;
    changed_ = !idle;
    wanted_.store(false, std::memory_order_relaxed);
    MutexLock lock(&mu_);
    harts_ = std::move(harts);
  }

 private:
  std::atomic<bool> wanted_{false};  // Read was called since the last reading
  Mutex mu_;
  std::vector<HartReport> harts_ ABSL_GUARDED_BY(mu_);

  // Device thread only.
  TimePoint published_at_{};
  bool changed_ = false;  // work was done since the last reading
};

}  // namespace ttfd
