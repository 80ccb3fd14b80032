// What the rest of the daemon learns of the card as the device thread sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/device/card_health.h"
#include "runtime/dispatch/stall_report.h"

namespace ttfd {

enum class DeviceState { kBooting, kReady, kRecovering, kFailed };

// Counted since the daemon started.
struct DeviceStats {
  uint64_t launches = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  uint32_t resets = 0;
};

// What is on the card of one hardware queue.
struct HardwareQueueStats {
  uint32_t index = 0;
  uint32_t in_flight = 0;  // works
  uint64_t completed = 0;  // works, since the daemon started
  uint32_t waiting = 0;    // works, for their turn
  uint64_t device_ns = 0;  // the card was at work for so long, since then, up to the last reading
};

struct CardReading {
  uint64_t number = 0;  // of the reading, from 1; 0: there is none yet
  uint64_t wanted = 0;  // the number of the first reading that is not old
  uint64_t age_ms = 0;
  std::vector<HartReport> harts;     // of the dispatch pipeline, and of workers that are not idle
  std::optional<CardHealth> health;  // none: there is no card (Device::ReadHealth)
};

// Called on the device thread (kBooting and the first kReady: on the thread that boots). Must not block.
class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;
  // `why` tells what made the card be reset, or why it is lost for good.
  virtual void DeviceStateChanged(DeviceState state, const std::string& why) = 0;
  // A launch of this flow (Work::flow) hung or faulted, and its owner has been told.
  virtual void FlowHung(uint64_t /*flow*/, const std::string& /*report*/) {}
  // Handles some of what clients have sent; at the start of each round, and again and again while the card is waited
  // for. True: there was some. The thread that adds input calls LookAgain.
  virtual bool HandleInput() { return false; }
  // When HandleInput is to be called at the latest. TimePoint::min(): there is input, the device thread does not sleep.
  virtual TimePoint InputDue() const { return TimePoint::max(); }
  bool has_input() const { return InputDue() == TimePoint::min(); }
};

}  // namespace ttfd
