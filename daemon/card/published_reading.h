// The state of the card as the device thread read it last. Readers take the published value and request a newer one:
// however many they are, they neither wait for the device thread nor have the card read more than once in kPeriod.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "daemon/api/device_state.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

class PublishedReading {
 public:
  // `read` reads the card; called on the device thread. It costs a few PCIe reads a hart, and a dozen for the health.
  PublishedReading(std::function<CardReading()> read, Clock& clock)
      : read_(std::move(read)), clock_(clock) {}

  // A reading that is younger is not old.
  static constexpr Duration kPeriod = std::chrono::milliseconds(50);

  // The last reading. If it is old and none is under way, the device thread is to read the card: `wake` is called by
  // the first to request that. Any thread.
  CardReading Read(absl::FunctionRef<void()> wake) ABSL_LOCKS_EXCLUDED(mu_) {
    CardReading reading;
    bool first = false;
    {
      MutexLock lock(&mu_);
      const Duration age = clock_.Now() - read_at_;
      const bool old = reading_.number == 0 || age >= kPeriod;
      reading = reading_;
      reading.age_ms = MillisecondsOf(age);
      const bool being_read = begun_ != reading_.number;
      reading.wanted = old && !being_read ? begun_ + 1 : begun_;
      first = old && !being_read && !wanted_.exchange(true, std::memory_order_relaxed);
    }
    if (first) wake();
    return reading;
  }

  // Reads the card if that was requested. Device thread.
  void ReadIfRequested() ABSL_LOCKS_EXCLUDED(mu_) {
    if (!wanted_.load(std::memory_order_relaxed)) return;
    uint64_t number = 0;
    const TimePoint began = clock_.Now();
    {
      MutexLock lock(&mu_);
      wanted_.store(false, std::memory_order_relaxed);
      number = ++begun_;
    }
    CardReading reading = read_();
    reading.number = number;
    MutexLock lock(&mu_);
    reading_ = std::move(reading);
    read_at_ = began;
  }

 private:
  const std::function<CardReading()> read_;
  Clock& clock_;
  std::atomic<bool> wanted_{false};  // a request is not answered; set and cleared under mu_
  Mutex mu_;
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  CardReading reading_ ABSL_GUARDED_BY(mu_);
  TimePoint read_at_ ABSL_GUARDED_BY(mu_){};
};

}  // namespace ttfd
