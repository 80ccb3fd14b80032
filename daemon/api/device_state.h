// State of the card, as the device thread sees it, for clients and administrators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/stall_report.h"
#include "runtime/device/card_health.h"
#include "runtime/device/link_status.h"

namespace ttfd {

enum class DeviceState { kBooting, kReady, kRecovering, kFailed };

// Counted since the daemon started.
struct DeviceStats {
  uint64_t launches = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  uint32_t resets = 0;
};

// Figures of one hardware queue.
struct HardwareQueueStats {
  uint32_t index = 0;
  uint32_t in_flight = 0;  // slices
  uint64_t completed = 0;  // slices, since the daemon started
  uint32_t waiting = 0;    // queues of sessions whose next slice waits
  uint64_t device_ns = 0;  // the card was at work for so long, since then, up to the last reading
};

// State that a device publishes.
struct DeviceReading {
  std::optional<CardHealth> health;  // none: there is no card (Device::ReadHealth)
  std::vector<LinkStatus> links;     // ReadLinks
};

struct CardReading {
  uint64_t number = 0;  // of the reading, from 1; 0: there is none yet
  uint64_t wanted = 0;  // the number of the first reading that is not old
  uint64_t age_ms = 0;
  std::vector<HartReport> harts;  // of the dispatch pipeline, and of workers that are not idle
  DeviceReading device;
};

}  // namespace ttfd
