// From the order of works to the card, and back: submit, ask for events, retire.
#include <algorithm>
#include <utility>

#include "daemon/engine/engine.h"
#include "daemon/engine/replay.h"

namespace ttfd {
namespace {

// What the device waits for before it begins with the work. What lies on the same route is in order anyway.
std::vector<Ticket> AwaitedBy(const Work& work) {
  std::vector<Ticket> tickets;
  for (const WorkWait& wait : work.after) {
    if (wait.track->route() == work.track->route()) continue;
    const std::optional<Ticket> ticket = wait.track->TicketOf(wait.number);
    if (ticket.has_value()) tickets.push_back(*ticket);
  }
  return tickets;
}

}  // namespace

bool Engine::MayTakeMore(const HardwareQueue& queue) const {
  if (queue.in_flight.size() >= options_.window_commands) return false;
  return queue.in_flight_cost < options_.window ||
         (queue.in_flight_cost <= options_.overlap && queue.in_order() == 1);
}

// Fills held with the next work.
bool Engine::NextWork(HardwareQueue& queue, TimePoint now) {
  if (!queue.holding) {
    if (!queue.again.empty()) {
      // In the old order: what it waits for goes first.
      const Work& next = queue.again.front();
      if (!next.MayBeTaken(Duration::max())) return false;
      if (!queue.busy.Admit(next, next.route.workers)) return false;
      queue.held = std::move(queue.again.front());
      queue.again.pop_front();
    } else if (!queue.order.Pop(queue.busy, &queue.held)) {
      return false;
    }
    queue.holding = true;
    queue.held_watch.Begin(now, {});
  }
  if (auto* write = std::get_if<WriteCommand>(&queue.held.command)) {
    write->data = std::as_bytes(std::span(queue.held.payload));
  }
  return true;
}

Status Engine::SubmitReady(HardwareQueue& queue, TimePoint now) {
  while (MayTakeMore(queue)) {
    if (!NextWork(queue, now)) break;
    // Between transfers one event does for all. It stands between a launch and what may not overlap it.
    const Work* const last = queue.uncovered != 0 ? &queue.in_flight.back().work : nullptr;
    const bool kernels = queue.held.runs_kernels();
    if (last != nullptr && (last->runs_kernels() || kernels) &&
        !(last->runs_kernels() && MayOverlap(*last, queue.held))) {
      RETURN_IF_ERROR(SendEvent(queue));
      if (queue.uncovered != 0) break;  // no space for it now
    }
    ASSIGN_OR_RETURN(const bool gone, SubmitHeld(queue, now));
    if (!gone) break;
  }
  return SendEvent(queue);
}

// RESOURCE_EXHAUSTED: a trace whose kernels do not fit beside those of other traces. INVALID_ARGUMENT:
// the session's decoding let something through that the runtime refuses, our own bug, and its
// command fails with it. Any other error is the device's end.
Status Engine::RefuseHeld(HardwareQueue& queue, const Status& why) {
  WorkError error{StatusCode::kInternal, "INVALID", std::string(StatusMessage(why)), false};
  if (why.code() == StatusCode::kResourceExhausted) {
    error.code = why.code();
    error.reason = "LIMIT";
  } else if (why.code() != StatusCode::kInvalidArgument) {
    return why;
  }
  FailHeld(queue, error);
  round_had_news_ = true;
  return OkStatus();
}

StatusOr<bool> Engine::SubmitHeld(HardwareQueue& queue, TimePoint now) {
  std::vector<Ticket> after = AwaitedBy(queue.held);
  // Called at the last moment: its deadline may have passed while it waited, or its client has cancelled it.
  bool wanted = true;
  const StatusOr<std::optional<uint64_t>> ticket = dispatcher_->TrySubmit(
      queue.held.route, queue.held.command, after,
      [&] { return wanted = queue.held.owner->Start(queue.held, clock_.Now()); });
  if (!ticket.ok()) {
    RETURN_IF_ERROR(RefuseHeld(queue, ticket.status()));
    return true;
  }
  if (wanted && !ticket->has_value()) return false;
  queue.holding = false;
  if (!wanted) {
    queue.order.Refund(queue.held);
    queue.held.track->GivenUp(queue.held.number);
    queue.held = Work();
    round_had_news_ = true;
    return true;
  }
  queue.held.submitted = now;
  profiler_.NameProgramsOf(queue.held);
  queue.held.track->Submitted(queue.held.number, {queue.index, **ticket}, queue.held.cost);
  queue.in_flight.push_back({std::move(queue.held), **ticket, ++turns_, std::move(after)});
  const Work& work = queue.in_flight.back().work;
  bounds_.Begin(work);
  BeginTimes(queue, now);
  if (work.runs_kernels()) RETURN_IF_ERROR(SendEvent(queue));
  if (work.apart()) {
    queue.busy.Add(work);
  } else {
    queue.in_flight_cost += work.cost;
    queue.uncovered = **ticket;
  }
  return true;
}

Status Engine::SendEvent(HardwareQueue& queue) {
  if (queue.uncovered == 0) return OkStatus();
  ASSIGN_OR_RETURN(const bool asked, dispatcher_->Event(queue.index, queue.uncovered));
  if (asked) queue.uncovered = 0;
  return OkStatus();
}

// Works that may still be taken are not looked at: who asks has seen to it that none of them disturbs. What a reset put
// back was taken before that.
void Engine::CheckQuiet() {
  const auto disturbed = [this](const QuietRequest& request) {
    return std::any_of(queues_.begin(), queues_.end(), [&](const HardwareQueue& queue) {
      return (queue.holding && request.disturbs(queue.held)) ||
             std::any_of(queue.again.begin(), queue.again.end(), request.disturbs) ||
             std::any_of(queue.in_flight.begin(), queue.in_flight.end(),
                         [&](const WorkInFlight& known) { return request.disturbs(known.work); });
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
      [](const WorkInFlight& known, uint64_t number) { return known.ticket < number; });
  if (found == in_flight.end() || found->ticket != ticket.number) return;
  found->work.owner->Printed(found->work, std::move(print));
  round_had_news_ = true;
}

// What has ended shares the time since the first of it could run, by what each was expected to take: the card comes to
// a work when the one before has ended. Kernels apart do so by their workers, and with nobody else.
void Engine::ShareOut(HardwareQueue& queue, TimePoint now, TimePoint work_now) {
  const auto part = [](const Work& work, double expected, Duration of) {
    return Duration(static_cast<Duration::rep>(static_cast<double>(work.cost.count()) / expected *
                                               static_cast<double>(of.count())));
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
      if (together(i)) cost += retired_[i].cost;
    }
    const double expected = std::max(1.0, static_cast<double>(cost.count()));
    const Watch& watch = retired_watches_[first];
    // It ended together with what it waited for: how long it ran itself is anybody's guess.
    const Duration ran = watch.begun ? now - watch.began : cost;
    const Duration used = watch.begun ? work_now - watch.work_began : cost;
    TimePoint free_at = now - ran;
    for (size_t i = first; i < retired_.size(); ++i) {
      if (!together(i)) continue;
      Work& work = retired_[i];
      work.device_time = part(work, expected, used);
      work.began = std::max(free_at, work.submitted);
      free_at += part(work, expected, ran);
      busy += work.device_time;
      queue.order.Used(work, work.device_time);
      shared[i] = true;
    }
  }
  queue.AddBusy(busy);
}

// Takes a work that has ended off the queue's books.
void Engine::RetireOne(HardwareQueue& queue, WorkInFlight* entry) {
  Work& work = entry->work;
  if (work.apart()) {
    queue.busy.Remove(work);
  } else {
    queue.in_flight_cost -= work.cost;
  }
  if (work.runs_kernels()) {
    launches_.fetch_add(work.launches, std::memory_order_relaxed);
    if (work.flow != kernel_flow_) {
      many_flows_ |= kernel_flow_ != 0;
      kernel_flow_ = work.flow;
    }
    recent_.Add(queue.index, work);
  } else {
    (work.read_into ? bytes_read_ : bytes_written_)
        .fetch_add(work.bytes, std::memory_order_relaxed);
  }
  bounds_.Ended(work);
  work.track->Ended(work.number);
  retired_.push_back(std::move(work));
  retired_watches_.push_back(entry->watch);
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
    for (WorkInFlight& entry : in_flight) {
      if (!dispatcher_->IsDone({queue.index, entry.ticket})) continue;
      RetireOne(queue, &entry);
      entry.ticket = kRetired;
    }
    if (!retired_.empty()) {
      std::erase_if(in_flight, [](const WorkInFlight& entry) { return entry.ticket == kRetired; });
    }
  }
  if (retired_.empty()) return;
  queue.shown_completed.fetch_add(retired_.size(), std::memory_order_relaxed);
  const TimePoint work_now = work_clock_.Now();
  ShareOut(queue, now, work_now);
  BeginTimes(queue, now, work_now);
  for (size_t begin = 0; begin < retired_.size();) {
    size_t end = begin;
    WorkOwner* const owner = retired_[begin].owner.get();
    while (end < retired_.size() && retired_[end].owner.get() == owner) ++end;
    owner->Done(std::span(retired_).subspan(begin, end - begin));
    begin = end;
  }
  retired_.clear();
  retired_watches_.clear();
  round_had_news_ = true;
}

}  // namespace ttfd
