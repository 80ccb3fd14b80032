// Gives the card the slices that the schedulers choose.
#include "daemon/card/submission.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ttfd {
namespace {

// Tickets that the device waits for before it begins with the slice. Slices of the same route are in order anyway.
std::vector<Ticket> AwaitedBy(const Slice& slice) {
  std::vector<Ticket> tickets;
  for (const QueueWait& wait : slice.after) {
    // Commands of another card have ended.
    if (wait.queue->card != slice.queue->card || wait.queue->route == slice.queue->route) continue;
    const std::optional<Ticket> ticket = wait.queue->slices.TicketOf(wait.value);
    if (ticket.has_value()) tickets.push_back(*ticket);
  }
  return tickets;
}

// RESOURCE_EXHAUSTED: a trace whose kernels do not fit next to those of other traces. INVALID_ARGUMENT: the session's
// decoding let something through that the runtime refuses, our own bug, and its command fails with it. None: the error
// is the device's end.
std::optional<SliceError> RefusalOf(const Status& why) {
  const std::string text(StatusMessage(why));
  if (why.code() == StatusCode::kResourceExhausted) {
    return SliceError{why.code(), "LIMIT", text, false};
  }
  if (why.code() != StatusCode::kInvalidArgument) return std::nullopt;
  return SliceError{StatusCode::kInternal, "INVALID", text, false};
}

}  // namespace

bool Submission::MayTakeMore(const HardwareQueue& queue) const {
  if (queue.in_flight.size() >= options_.window_commands) return false;
  return queue.in_flight_cost < options_.window ||
         (queue.in_flight_cost <= options_.overlap && queue.in_order() == 1);
}

Status Submission::SubmitReady(HardwareQueue& queue, TimePoint now) {
  bool refused_before = std::exchange(queue.refused, nullptr) != nullptr;
  while (MayTakeMore(queue)) {
    SessionQueue* const from = queue.scheduler.Next(queue.busy);
    if (from == nullptr) break;
    std::shared_ptr<Session> session = from->share.owner->shared_from_this();
    if (!session->MayStart(*from, clock_.Now())) {
      in_flight_.AddNews();
      continue;
    }
    if (!refused_before) queue.refused_watch.Begin(now, {});
    queue.refused = from;  // until the card has taken it
    queue.refused_session = std::move(session);
    ASSIGN_OR_RETURN(bool gone, in_flight_.RequestEventBefore(queue, *from->slices.next()));
    if (gone) {
      ASSIGN_OR_RETURN(gone, SubmitNext(queue, *from, now));
    }
    if (!gone) break;
    queue.refused = nullptr;
    refused_before = false;
  }
  if (queue.refused == nullptr) queue.refused_session = nullptr;
  return in_flight_.RequestEvent(queue);
}

StatusOr<bool> Submission::SubmitNext(HardwareQueue& queue, SessionQueue& from, TimePoint now) {
  Slice& next = *from.slices.next();
  if (auto* write = std::get_if<WriteCommand>(&next.command)) {
    write->data = std::as_bytes(std::span(next.payload));
  }
  std::vector<Ticket> after = AwaitedBy(next);
  const StatusOr<std::optional<uint64_t>> number = card_.TrySubmit(next.route, next.command, after);
  if (!number.ok()) {
    const std::optional<SliceError> error = RefusalOf(number.status());
    if (!error.has_value()) return number.status();
    queue.refused_session->Refused(from, *error);
    in_flight_.AddNews();
    return true;
  }
  if (!number->has_value()) return false;
  queue.scheduler.Started(from);
  profiler_.NameProgramsOf(next);
  RETURN_IF_ERROR(in_flight_.Add(from, {queue.index, **number}, std::move(after), now));
  return true;
}

}  // namespace ttfd
