// From the scheduler to the card, and back: submit, ask for events, retire.
#include <algorithm>
#include <utility>

#include "daemon/card/engine.h"

namespace ttfd {
namespace {

// What the device waits for before it begins with the slice. What lies on the same route is in order anyway.
std::vector<Ticket> AwaitedBy(const Slice& slice) {
  std::vector<Ticket> tickets;
  for (const QueueWait& wait : slice.after) {
    if (wait.queue->route == slice.queue->route) continue;
    const std::optional<Ticket> ticket = wait.queue->slices.TicketOf(wait.value);
    if (ticket.has_value()) tickets.push_back(*ticket);
  }
  return tickets;
}

// RESOURCE_EXHAUSTED: a trace whose kernels do not fit beside those of other traces. INVALID_ARGUMENT: the session's
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

bool Engine::MayTakeMore(const HardwareQueue& queue) const {
  if (queue.in_flight.size() >= options_.window_commands) return false;
  return queue.in_flight_cost < options_.window ||
         (queue.in_flight_cost <= options_.overlap && queue.in_order() == 1);
}

Status Engine::SubmitReady(HardwareQueue& queue, TimePoint now) {
  bool refused_before = std::exchange(queue.refused, nullptr) != nullptr;
  while (MayTakeMore(queue)) {
    SessionQueue* const from = queue.scheduler.Next(queue.busy);
    if (from == nullptr) break;
    std::shared_ptr<Session> session = from->share.owner->shared_from_this();
    if (!session->MayStart(*from, clock_.Now())) {
      round_had_news_ = true;
      continue;
    }
    if (!refused_before) queue.refused_watch.Begin(now, {});
    queue.refused = from;  // until the card has taken it
    queue.refused_session = std::move(session);
    ASSIGN_OR_RETURN(bool gone, SendEventBefore(queue, *from->slices.next()));
    if (gone) {
      ASSIGN_OR_RETURN(gone, SubmitNext(queue, *from, now));
    }
    if (!gone) break;
    queue.refused = nullptr;
    refused_before = false;
  }
  if (queue.refused == nullptr) queue.refused_session = nullptr;
  return SendEvent(queue);
}

// Between transfers one event does for all. It stands between a launch and what may not overlap it. False: there is no
// space for it now.
StatusOr<bool> Engine::SendEventBefore(HardwareQueue& queue, const Slice& next) {
  if (queue.uncovered == 0) return true;
  const Slice& last = queue.in_flight.back().slice;
  if (!last.runs_kernels() && !next.runs_kernels()) return true;
  if (last.runs_kernels() && MayOverlap(last, next)) return true;
  RETURN_IF_ERROR(SendEvent(queue));
  return queue.uncovered == 0;
}

StatusOr<bool> Engine::SubmitNext(HardwareQueue& queue, SessionQueue& from, TimePoint now) {
  Slice& next = *from.slices.next();
  if (auto* write = std::get_if<WriteCommand>(&next.command)) {
    write->data = std::as_bytes(std::span(next.payload));
  }
  std::vector<Ticket> after = AwaitedBy(next);
  const StatusOr<std::optional<uint64_t>> number =
      dispatcher_->TrySubmit(next.route, next.command, after);
  std::shared_ptr<Session> session = from.share.owner->shared_from_this();
  if (!number.ok()) {
    const std::optional<SliceError> error = RefusalOf(number.status());
    if (!error.has_value()) return number.status();
    session->Refused(from, *error);
    round_had_news_ = true;
    return true;
  }
  if (!number->has_value()) return false;
  const Ticket ticket{queue.index, **number};
  queue.scheduler.Started(from);
  next.times.submitted = now;
  profiler_.NameProgramsOf(next);
  Slice submitted = session->Submitted(from, ticket);
  queue.in_flight.push_back(
      {std::move(session), std::move(submitted), ticket.number, ++turns_, std::move(after)});
  const Slice& slice = queue.in_flight.back().slice;
  bounds_.Begin(slice);
  watchdog_.BeginTimes(queue, now);
  if (slice.runs_kernels()) RETURN_IF_ERROR(SendEvent(queue));
  if (slice.apart()) {
    queue.busy.Add(slice);
  } else {
    queue.in_flight_cost += slice.times.cost;
    queue.uncovered = ticket.number;
  }
  return true;
}

Status Engine::SendEvent(HardwareQueue& queue) {
  if (queue.uncovered == 0) return OkStatus();
  ASSIGN_OR_RETURN(const bool asked, dispatcher_->Event(queue.index, queue.uncovered));
  if (asked) queue.uncovered = 0;
  return OkStatus();
}

// What may still be taken is not looked at: the lease gate sees to it that none of it disturbs.
void Engine::CheckQuiet() {
  const auto disturbed = [this](const QuietRequest& request) {
    return std::any_of(queues_.begin(), queues_.end(), [&](const HardwareQueue& queue) {
      return std::any_of(
          queue.in_flight.begin(), queue.in_flight.end(),
          [&](const SubmittedSlice& known) { return request.disturbs(known.slice); });
    });
  };
  for (auto request = quiets_.begin(); request != quiets_.end();) {
    if (disturbed(*request)) {
      ++request;
      continue;
    }
    const std::function<void()> done = std::move(request->done);
    request = quiets_.erase(request);
    done();
    round_had_news_ = true;
  }
}

// Whoever has failed is not told any more.
void Engine::Printed(const Ticket& ticket, KernelPrint print) {
  auto& in_flight = queues_[ticket.hardware_queue].in_flight;
  const auto found = std::lower_bound(
      in_flight.begin(), in_flight.end(), ticket.number,
      [](const SubmittedSlice& known, uint64_t number) { return known.ticket < number; });
  if (found == in_flight.end() || found->ticket != ticket.number) return;
  if (found->session != nullptr) found->session->Printed(found->slice, std::move(print));
  round_had_news_ = true;
}

// What has ended shares the time since the first of it could run, by what each was expected to take: the card comes to
// a work when the one before has ended. Kernels apart do so by their workers, and with nobody else.
void Engine::ShareOut(HardwareQueue& queue, TimePoint now, TimePoint work_now) {
  const auto part = [](const Slice& slice, double expected, Duration of) {
    return Duration(static_cast<Duration::rep>(static_cast<double>(slice.times.cost.count()) /
                                               expected * static_cast<double>(of.count())));
  };
  Duration busy{};
  std::vector<bool>& shared = shared_out_;
  shared.assign(retired_.size(), false);
  for (size_t first = 0; first < retired_.size(); ++first) {
    if (shared[first]) continue;
    const bool apart = retired_[first].apart();
    const auto together = [&](size_t i) {
      return !shared[i] && retired_[i].apart() == apart &&
             (!apart || retired_[i].route.workers == retired_[first].route.workers);
    };
    Duration cost{};
    for (size_t i = first; i < retired_.size(); ++i) {
      if (together(i)) cost += retired_[i].times.cost;
    }
    const double expected = std::max(1.0, static_cast<double>(cost.count()));
    const Watch& watch = retired_of_[first].watch;
    // It ended together with what it waited for: how long it ran itself is anybody's guess.
    const Duration ran = watch.begun ? now - watch.began : cost;
    const Duration used = watch.begun ? work_now - watch.work_began : cost;
    TimePoint free_at = now - ran;
    for (size_t i = first; i < retired_.size(); ++i) {
      if (!together(i)) continue;
      Slice& slice = retired_[i];
      slice.times.device_time = part(slice, expected, used);
      slice.times.began = std::max(free_at, slice.times.submitted);
      free_at += part(slice, expected, ran);
      busy += slice.times.device_time;
      queue.scheduler.Used(slice, slice.times.device_time);
      shared[i] = true;
    }
  }
  queue.AddBusy(busy);
}

// Takes a slice that has ended off the queue's books.
void Engine::RetireOne(HardwareQueue& queue, SubmittedSlice* entry) {
  Slice& slice = entry->slice;
  if (slice.apart()) {
    queue.busy.Remove(slice);
  } else {
    queue.in_flight_cost -= slice.times.cost;
  }
  stats_.Add(slice);
  if (slice.runs_kernels()) ended_.Add(queue.index, slice);
  bounds_.Ended(slice);
  slice.queue->slices.Ended({queue.index, entry->ticket});
  retired_.push_back(std::move(slice));
  retired_of_.push_back({std::move(entry->session), entry->watch});
}

void Engine::Retire(HardwareQueue& queue, TimePoint now) {
  auto& in_flight = queue.in_flight;
  const uint64_t completed = dispatcher_->completed(queue.index);
  while (!in_flight.empty() && in_flight.front().ticket <= completed) {
    RetireOne(queue, &in_flight.front());
    in_flight.pop_front();
  }
  // What has ended beside kernels apart that have not.
  if (!queue.busy.empty()) {
    constexpr uint64_t kRetired = 0;
    for (SubmittedSlice& entry : in_flight) {
      if (!dispatcher_->IsDone({queue.index, entry.ticket})) continue;
      RetireOne(queue, &entry);
      entry.ticket = kRetired;
    }
    if (!retired_.empty()) {
      std::erase_if(in_flight,
                    [](const SubmittedSlice& entry) { return entry.ticket == kRetired; });
    }
  }
  if (retired_.empty()) return;
  queue.shown_completed.fetch_add(retired_.size(), std::memory_order_relaxed);
  const TimePoint work_now = work_clock_.Now();
  ShareOut(queue, now, work_now);
  QueueWatchdog::BeginTimes(queue, now, work_now);
  for (size_t begin = 0; begin < retired_.size();) {
    size_t end = begin;
    Session* const session = retired_of_[begin].session.get();
    while (end < retired_.size() && retired_of_[end].session.get() == session) ++end;
    session->Done(std::span(retired_).subspan(begin, end - begin));
    begin = end;
  }
  retired_.clear();
  retired_of_.clear();
  round_had_news_ = true;
}

}  // namespace ttfd
