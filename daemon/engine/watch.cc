// Is the card still at work? What of it stands still, and for how long it may.
#include "daemon/engine/engine.h"
#include "daemon/engine/replay.h"

namespace ttfd {
namespace {

long long Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

Status Engine::Poll() {
  RETURN_IF_ERROR(dispatcher_->Poll());
  const TimePoint now = device_clock_.Now();
  for (HardwareQueue& queue : queues_) Retire(queue, now);
  for (HardwareQueue& queue : queues_) RETURN_IF_ERROR(CheckProgress(queue, now));
  return OkStatus();
}

// The head cannot have begun: its time runs from when it can.
bool Engine::WaitsForAnother(const HardwareQueue& queue) const {
  if (queue.in_flight.empty()) return false;
  const WorkInFlight& head = queue.in_flight.front();
  for (const Ticket& ticket : head.after) {
    if (dispatcher_->completed(ticket.hardware_queue) < ticket.number) return true;
  }
  if (!head.work.runs_kernels()) return false;
  for (const HardwareQueue& other : queues_) {
    if (&other == &queue || other.in_flight.empty()) continue;
    const WorkInFlight& elder = other.in_flight.front();
    if (elder.work.runs_kernels() && elder.turn < head.turn && ShareWorkers(elder.work, head.work))
      return true;
  }
  return false;
}

// A hang is no progress for longer than what runs now may take. A launch has its time and no more. Of anything else
// the card is asked whether it moves, once in the middle of the time, so that the answer at its end is of the rest
// of it; then the time starts again, for a trace not beyond what its launches may take one after the other.
Status Engine::CheckProgress(HardwareQueue& queue, TimePoint now) {
  if (queue.in_flight.empty() && !queue.holding) return OkStatus();
  if (WaitsForAnother(queue)) {
    BeginTimes(queue, now);
    return OkStatus();
  }
  const Work* const head = queue.head();
  const bool kernels = head != nullptr && head->runs_kernels();
  const bool launch = kernels && std::holds_alternative<LaunchCommand>(head->command);
  const bool own = kernels || (head != nullptr && head->timeout != Duration::zero());
  const Duration limit =
      own ? head->timeout : Duration(operation_timeout_.load(std::memory_order_relaxed));
  const Duration stood = now - queue.progress_time;
  if (!launch && !queue.looked && stood > limit / 2) {
    queue.looked = true;
    ASSIGN_OR_RETURN(queue.look, dispatcher_->LookAt(queue.index));
  }
  if (stood <= limit) return OkStatus();
  const bool patient =
      !kernels || now < queue.retire_time + limit * static_cast<Duration::rep>(head->launches);
  if (!launch && patient) {
    ASSIGN_OR_RETURN(const uint64_t look, dispatcher_->LookAt(queue.index));
    if (look != queue.look) {
      queue.look = look;
      queue.progress_time = now;
      return OkStatus();
    }
  }
  // What it waits for may be more than is known here: room in the kernel caches, or a sub-device's number.
  if (dispatcher_->Diagnose(queue.index).waits_for_queue) {
    queue.progress_time = now;
    return OkStatus();
  }
  late_ = &queue;
  if (launch) {
    return Error(StatusCode::kDeadlineExceeded,
                 "the launch did not end within its kernel timeout of {} ms", Milliseconds(limit));
  }
  if (kernels) {
    return Error(StatusCode::kDeadlineExceeded,
                 "the trace of {} launches made no progress within its kernel timeout of {} ms",
                 head->launches, Milliseconds(limit));
  }
  return Error(StatusCode::kDeadlineExceeded,
               "the dispatch pipeline made no progress for {} ms (operation timeout)",
               Milliseconds(limit));
}

}  // namespace ttfd
