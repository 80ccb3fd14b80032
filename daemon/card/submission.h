// Gives the card the slices that the schedulers choose, as many as it is to have ahead of completion. Device thread.
#pragma once

#include "daemon/card/card_executor_options.h"
#include "daemon/card/in_flight.h"
#include "daemon/card/profiler.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"

namespace ttfd {

class Submission {
 public:
  // All outlive it.
  Submission(Card& card, InFlight& in_flight, Profiler& profiler, Clock& clock,
             const CardExecutorOptions& options)
      : card_(card), in_flight_(in_flight), profiler_(profiler), clock_(clock), options_(options) {}

  // An error is the card's end; `queue.refused` then is the queue whose next slice it would not take.
  Status SubmitReady(HardwareQueue& queue, TimePoint now);

 private:
  bool MayTakeMore(const HardwareQueue& queue) const;
  // False: there is no space on the card for the next slice of `from`.
  StatusOr<bool> SubmitNext(HardwareQueue& queue, SessionQueue& from, TimePoint now);

  Card& card_;
  InFlight& in_flight_;
  Profiler& profiler_;
  Clock& clock_;
  const CardExecutorOptions& options_;
};

}  // namespace ttfd
