// Which stage of a hardware queue stopped, and what it waits for: read from waypoints, control blocks and
// streams of a card that makes no progress.
#pragma once

#include <cstdint>

#include "runtime/boot/boot_plan.h"
#include "runtime/device/device.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

// What the host knows of the queue.
struct HostView {
  uint32_t entries_announced = 0;
  uint32_t entries_taken = 0;
  bool owed = false;  // an event or a read is due
};

// Without `harts`, which the caller reads once for all queues.
StallReport DiagnoseQueue(Device& device, const BootPlan& plan, const HostView& host);

// One number made of everything that moves while the queue makes progress: progress words and waypoints
// of its harts, worker counts.
StatusOr<uint64_t> ProgressFingerprint(Device& device, const BootPlan& plan);

}  // namespace ttfd
