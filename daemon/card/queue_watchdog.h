// Decides whether a hardware queue has stopped: by how long its slices have had the card (Watch), and near the end of
// that time by what the card itself shows. Device thread.
#pragma once

#include <optional>

#include "daemon/card/hardware_queue.h"
#include "daemon/card/recovery_plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

class QueueWatchdog {
 public:
  // All outlive it. `work_clock`: what slices are charged by.
  QueueWatchdog(Dispatcher& dispatcher, HardwareQueues& queues, Clock& work_clock)
      : dispatcher_(dispatcher), queues_(queues), work_clock_(work_clock) {}

  // DEADLINE_EXCEEDED: `place` has stopped. `operation_timeout`: of what has none of its own.
  Status Check(TimePoint now, Duration operation_timeout, std::optional<StopPlace>* place);

 private:
  // An error belongs to the place that it is given with.
  Status CheckQueue(HardwareQueue& queue, TimePoint now, Duration operation_timeout,
                    std::optional<StopPlace>* place);
  // No `entry`: the slice that the queue does not take.
  Status CheckOne(HardwareQueue& queue, const SubmittedSlice* entry, Watch* watch, TimePoint now,
                  Duration operation_timeout, std::optional<StopPlace>* place);
  bool OlderElsewhere(const HardwareQueue& queue, uint64_t turn) const;
  bool WaitsForAnother(const HardwareQueue& queue, const SubmittedSlice& head) const;

  Dispatcher& dispatcher_;
  HardwareQueues& queues_;
  Clock& work_clock_;
};

}  // namespace ttfd
