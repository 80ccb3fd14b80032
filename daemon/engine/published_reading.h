// The state of the card as the device thread read it last. Readers take the published value and request a newer one:
// however many they are, they neither wait for the device thread nor have the card read more than once in kPeriod.
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
  // `read` reads the card; called on the device thread. It costs a few PCIe reads a hart, and a dozen for the health.
  explicit PublishedReading(std::function<CardReading()> read) : read_(std::move(read)) {}

  // A reading that is younger answers requests.
  static constexpr Duration kPeriod = std::chrono::milliseconds(50);

  struct Requested {
    uint64_t number;  // of the reading that answers the request (CardReading::number)
    bool first;       // the device thread has to be woken
  };

  // ---- any thread

  Requested Request(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (reading_.number != 0 && now - reading_.read_at < kPeriod) return {reading_.number, false};
    const bool first = !wanted_.exchange(true, std::memory_order_relaxed);
    return {begun_ + 1, first};
  }
  // The last reading; number 0: there is none yet.
  CardReading Read() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return reading_;
  }
  // The number of the last reading.
  uint64_t number() const { return number_.load(std::memory_order_acquire); }

  // ---- device thread

  void ReadIfRequested(Clock& clock) ABSL_LOCKS_EXCLUDED(mu_) {
    if (!wanted_.load(std::memory_order_relaxed)) return;
    uint64_t number = 0;
    {
      MutexLock lock(&mu_);
      wanted_.store(false, std::memory_order_relaxed);
      number = ++begun_;
    }
    CardReading reading = read_();
    reading.number = number;
    reading.read_at = clock.Now();
    MutexLock lock(&mu_);
    reading_ = std::move(reading);
    number_.store(number, std::memory_order_release);
  }

 private:
  const std::function<CardReading()> read_;
  std::atomic<bool> wanted_{false};  // a request is not answered; set and cleared under mu_
  std::atomic<uint64_t> number_{0};
  Mutex mu_;
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  CardReading reading_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
