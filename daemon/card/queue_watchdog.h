// Decides whether a hardware queue has stopped: by how long its slices have had the card (Watch), and near the end of
// that time by what the card itself shows. Device thread.
#pragma once

#include <optional>

#include "daemon/card/in_flight.h"
#include "daemon/card/recovery_plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card_probe.h"

namespace ttfd {

class QueueWatchdog {
 public:
  // All outlive it. `work_clock`: what slices are charged by.
  QueueWatchdog(CardProbe& probe, InFlight& in_flight, Clock& work_clock)
      : probe_(probe), in_flight_(in_flight), work_clock_(work_clock) {}

  // DEADLINE_EXCEEDED: `place` has stopped. `operation_timeout`: of what has none of its own.
  Status Check(TimePoint now, Duration operation_timeout, std::optional<StopPlace>* place);

 private:
  // An error belongs to the place that it is given with.
  Status CheckQueue(HardwareQueue& queue, TimePoint now, Duration operation_timeout,
                    std::optional<StopPlace>* place);
  // No `entry`: the slice that the queue does not take.
  Status CheckOne(HardwareQueue& queue, const SubmittedSlice* entry, Watch* watch, TimePoint now,
                  Duration operation_timeout, std::optional<StopPlace>* place);
  bool OlderElsewhere(const HardwareQueue& queue, uint64_t turn);
  bool WaitsForAnother(const HardwareQueue& queue, const SubmittedSlice& head);

  CardProbe& probe_;
  InFlight& in_flight_;
  Clock& work_clock_;
};

}  // namespace ttfd
