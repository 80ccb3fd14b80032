// The state of the card as the device thread read it last. Readers take the published value: however many
// of them there are, they neither wait for the device thread nor make it read the card more often than once in kPeriod.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "daemon/engine/device_state.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

class PublishedReading {
 public:
  // How the card is read; called on the device thread.
  PublishedReading(std::function<std::vector<HartReport>()> read_harts,
                   std::function<std::optional<CardHealth>()> read_health)
      : read_harts_(std::move(read_harts)), read_health_(std::move(read_health)) {}

  // Between two readings of the card. One costs a few PCIe reads a hart, and a dozen for its health.
  static constexpr Duration kPeriod = std::chrono::milliseconds(250);
  static constexpr Duration kHealthPeriod = std::chrono::seconds(1);

  // ---- any thread

  // The last reading. The device thread reads the card after a boot, when it has become idle, and after a call
  // of this: at most once in kPeriod, and while it is idle only when it wakes (EngineOptions::idle_tick). The health of
  // an idle card changes: where there is one it is read every kHealthPeriod. Empty before the first boot.
  CardReading Read() ABSL_LOCKS_EXCLUDED(mu_) {
    wanted_.store(true, std::memory_order_relaxed);
    MutexLock lock(&mu_);
    return reading_;
  }

  // ---- device thread

  // The card was booted, so that an idle device thread reads it again.
  void MarkChanged() { changed_ = true; }
  // At the end of a round. `idle`: nothing is left to do.
  void ReadIfDue(bool idle, Clock& clock) {
    changed_ = changed_ || !idle;
    const bool wanted = wanted_.load(std::memory_order_relaxed) || (idle && changed_);
    const Duration age = clock.Now() - published_at_;
    if ((wanted && age >= kPeriod) || (has_health_ && age >= kHealthPeriod)) {
      ReadNow(clock.Now(), idle);
    }
  }
  void ReadNow(TimePoint now, bool idle) ABSL_LOCKS_EXCLUDED(mu_) {
    published_at_ = now;
    changed_ = !idle;
    wanted_.store(false, std::memory_order_relaxed);
    CardReading reading = {read_harts_(), read_health_()};
    has_health_ = reading.health.has_value();
    MutexLock lock(&mu_);
    reading_ = std::move(reading);
  }

 private:
  const std::function<std::vector<HartReport>()> read_harts_;
  const std::function<std::optional<CardHealth>()> read_health_;
  std::atomic<bool> wanted_{false};  // Read was called since the last reading
  Mutex mu_;
  CardReading reading_ ABSL_GUARDED_BY(mu_);

  // Device thread only.
  TimePoint published_at_{};
  bool changed_ = false;  // work was done since the last reading
  bool has_health_ = false;
};

}  // namespace ttfd
