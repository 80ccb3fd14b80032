// Decides from the times of slices and from what the card shows whether a hardware queue has stopped.
#include "daemon/card/queue_watchdog.h"

#include <algorithm>
#include <limits>

namespace ttfd {
namespace {

// `slice`: what runs kernels; null: none does.
Status Overdue(const Slice* slice, Duration limit) {
  const uint64_t ms = MillisecondsOf(limit);
  if (slice == nullptr) {
    return Error(StatusCode::kDeadlineExceeded,
                 "the dispatch pipeline made no progress for {} ms (operation timeout)", ms);
  }
  if (std::holds_alternative<LaunchCommand>(slice->command)) {
    return Error(StatusCode::kDeadlineExceeded,
                 "the launch did not end within its kernel timeout of {} ms", ms);
  }
  return Error(StatusCode::kDeadlineExceeded,
               "{} launches of a trace made no progress within their kernel timeout of {} ms",
               slice->launches, ms);
}

}  // namespace

Status QueueWatchdog::Check(TimePoint now, Duration operation_timeout,
                            std::optional<StopPlace>* place) {
  for (HardwareQueue& queue : in_flight_.queues()) {
    RETURN_IF_ERROR(CheckQueue(queue, now, operation_timeout, place));
  }
  return OkStatus();
}

// The head cannot have begun: its time runs from when it can.
bool QueueWatchdog::WaitsForAnother(const HardwareQueue& queue, const SubmittedSlice& head) {
  for (const Ticket& ticket : head.after) {
    if (in_flight_.Find(ticket) != nullptr) return true;
  }
  if (!head.slice.runs_kernels()) return false;
  for (const HardwareQueue& other : in_flight_.queues()) {
    if (&other == &queue) continue;
    for (const SubmittedSlice& elder : other.in_flight) {
      if (!elder.watch.begun || elder.turn > head.turn) break;
      if (elder.slice.runs_kernels() && ShareWorkers(elder.slice, head.slice)) return true;
    }
  }
  return false;
}

Status QueueWatchdog::CheckQueue(HardwareQueue& queue, TimePoint now, Duration operation_timeout,
                                 std::optional<StopPlace>* place) {
  for (SubmittedSlice& entry : queue.in_flight) {
    if (!entry.watch.begun) break;
    if (WaitsForAnother(queue, entry)) {
      entry.watch.Begin(now, work_clock_.Now());
      continue;
    }
    RETURN_IF_ERROR(CheckOne(queue, &entry, &entry.watch, now, operation_timeout, place));
  }
  if (queue.refused == nullptr) return OkStatus();
  const bool waits = !queue.in_flight.empty() || OlderElsewhere(queue, UINT64_MAX);
  if (!waits) {
    return CheckOne(queue, nullptr, &queue.refused_watch, now, operation_timeout, place);
  }
  queue.refused_watch.Begin(now, {});  // what it waits for has a time of its own
  return OkStatus();
}

// A slice waits only for slices submitted before it: the last of those is watched itself, and ends.
bool QueueWatchdog::OlderElsewhere(const HardwareQueue& queue, uint64_t turn) {
  for (const HardwareQueue& other : in_flight_.queues()) {
    if (&other == &queue) continue;
    if (std::any_of(other.in_flight.begin(), other.in_flight.end(),
                    [turn](const SubmittedSlice& entry) { return entry.turn < turn; })) {
      return true;
    }
  }
  return false;
}

// A hang is no progress for longer than what runs now may take. A launch has its time and no more. Of anything else
// the card is asked whether it moves, once in the middle of the time, so that the answer at its end is of the rest
// of it; then the time starts again, for a trace not beyond what its launches may take one after the other.
Status QueueWatchdog::CheckOne(HardwareQueue& queue, const SubmittedSlice* entry, Watch* watch,
                               TimePoint now, Duration operation_timeout,
                               std::optional<StopPlace>* place) {
  const Slice* const slice = entry == nullptr ? nullptr : &entry->slice;
  const uint64_t ticket = entry == nullptr ? 0 : entry->ticket;
  const bool kernels = slice != nullptr && slice->runs_kernels();
  const bool launch = kernels && std::holds_alternative<LaunchCommand>(slice->command);
  const bool own =
      kernels || (slice != nullptr && !slice->runs_kernels() && slice->timeout != Duration::zero());
  const Duration limit = own ? slice->timeout : operation_timeout;
  const Duration stood = now - watch->progress;
  if (!launch && !watch->looked && stood > limit / 2) {
    watch->looked = true;
    ASSIGN_OR_RETURN(watch->look, probe_.LookAt(queue.index));
  }
  if (stood <= limit) return OkStatus();
  const bool patient =
      !kernels || now < watch->began + limit * static_cast<Duration::rep>(slice->launches);
  if (!launch && patient) {
    ASSIGN_OR_RETURN(const uint64_t look, probe_.LookAt(queue.index));
    if (look != watch->look) {
      watch->look = look;
      watch->progress = now;
      return OkStatus();
    }
  }
  // The queue may wait for more than is recorded here: space in the kernel caches, or a sub-device's number.
  const uint64_t turn = entry == nullptr ? std::numeric_limits<uint64_t>::max() : entry->turn;
  if (OlderElsewhere(queue, turn) && probe_.Diagnose(queue.index).waits_for_queue) {
    watch->progress = now;
    watch->waited = true;
    return OkStatus();
  }
  if (watch->waited) {  // it may have begun only just now
    watch->Begin(now, work_clock_.Now());
    return OkStatus();
  }
  *place = {queue.index, ticket, /*refused=*/entry == nullptr};
  return Overdue(kernels ? slice : nullptr, limit);
}

}  // namespace ttfd
