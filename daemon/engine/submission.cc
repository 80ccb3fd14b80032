// From the order of works to the card, and back: submit, ask for events, retire.
#include <algorithm>
#include <utility>

#include "daemon/engine/engine.h"
#include "daemon/engine/replay.h"

namespace ttfd {
namespace {

// The card is asked once in so many tries whether kernels of sub-devices have ended.
constexpr uint32_t kTriesPerCount = 8;

}  // namespace

// Nothing was in flight: what comes now begins now.
void Engine::BeginTimes(HardwareQueue& queue, TimePoint now) {
  queue.progress_time = queue.retire_time = now;
  queue.retire_work_time = work_clock_.Now();
}

bool Engine::MayTakeMore(const HardwareQueue& queue) const {
  if (queue.in_flight.size() >= options_.window_commands) return false;
  if (queue.apart_cost >= options_.apart_window) return false;
  return queue.in_flight_cost < options_.window ||
         (queue.in_flight.size() == 1 && queue.in_flight_cost < options_.overlap);
}

// Fills held with the next work.
bool Engine::NextWork(HardwareQueue& queue, TimePoint now) {
  if (!queue.holding) {
    if (!queue.again.empty()) {
      // In the old order: what it waits for goes first.
      if (!queue.again.front().MayBeTaken(Duration::max())) return false;
      queue.held = std::move(queue.again.front());
      queue.again.pop_front();
    } else if (!queue.order.Pop(&queue.held)) {
      return false;
    }
    queue.holding = true;
    if (queue.in_flight.empty()) BeginTimes(queue, now);
  }
  if (auto* write = std::get_if<WriteCommand>(&queue.held.command)) {
    write->data = std::as_bytes(std::span(queue.held.payload));
  }
  return true;
}

// Asked at the last moment: what is held may wait for long, for room or for a launch to end, and is not wanted any more
// when its deadline has passed or its client has cancelled it meanwhile.
bool Engine::StartHeld(HardwareQueue& queue) {
  if (queue.held.owner->Start(queue.held, clock_.Now())) return true;
  queue.order.GivenBack(queue.held);
  queue.held.track->GivenUp(queue.held.number);
  queue.held = Work();
  queue.holding = false;
  round_had_news_ = true;
  return false;
}

Status Engine::SubmitReady(HardwareQueue& queue, TimePoint now) {
  while (MayTakeMore(queue)) {
    if (!NextWork(queue, now)) break;
    // Between transfers one event does for all. It stands between a launch and what may not overlap it.
    const Work* const last = queue.uncovered != 0 ? &queue.in_flight.back().work : nullptr;
    const bool kernels = queue.held.runs_kernels();
    if (last != nullptr && (last->runs_kernels() || kernels) &&
        !(last->runs_kernels() && MayOverlap(*last, queue.held))) {
      const bool must = last->runs_kernels();
      RETURN_IF_ERROR(SendEvent(queue));
      if (must && queue.uncovered != 0) return OkStatus();
    }
    const StatusOr<bool> room = dispatcher_->HasRoomFor(queue.held.route, queue.held.command);
    if (!room.ok()) {
      RETURN_IF_ERROR(RefuseHeld(queue, room.status()));
      continue;
    }
    if (!*room) break;
    if (StartHeld(queue)) RETURN_IF_ERROR(SubmitHeld(queue, now));
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
  queue.order.GivenBack(queue.held);
  queue.held.track->GivenUp(queue.held.number);
  queue.held.owner->Failed(queue.held, error);
  queue.held = Work();
  queue.holding = false;
  round_had_news_ = true;
  return OkStatus();
}

// What lies on the same route is in order anyway.
Status Engine::WaitForOthers(const HardwareQueue& queue, std::vector<Ticket>* tickets) {
  for (const WorkWait& wait : queue.held.after) {
    if (wait.track->route() == queue.held.track->route()) continue;
    const std::optional<Ticket> ticket = wait.track->TicketOf(wait.number);
    if (!ticket.has_value()) continue;
    RETURN_IF_ERROR(dispatcher_->Wait(queue.index, *ticket));
    tickets->push_back(*ticket);
  }
  return OkStatus();
}

Status Engine::SubmitHeld(HardwareQueue& queue, TimePoint now) {
  std::vector<Ticket> after;
  if (!queue.held.after.empty()) RETURN_IF_ERROR(WaitForOthers(queue, &after));
  const StatusOr<uint64_t> ticket = dispatcher_->Submit(queue.held.route, queue.held.command);
  if (!ticket.ok()) return RefuseHeld(queue, ticket.status());
  queue.holding = false;
  if (queue.in_flight.empty()) BeginTimes(queue, now);
  queue.CostOf(queue.held) += queue.held.cost;
  queue.held.submitted = now;
  if (profile_.has_value()) NameProgramsOf(queue.held);
  queue.held.track->Submitted(queue.held.number, {queue.index, *ticket}, queue.held.cost);
  const bool kernels = queue.held.runs_kernels();
  queue.in_flight.push_back({std::move(queue.held), *ticket, ++turns_, std::move(after)});
  if (kernels) RETURN_IF_ERROR(SendEvent(queue));
  queue.uncovered = *ticket;
  queue.apart |= kernels && queue.in_flight.back().work.route.workers.any();
  return OkStatus();
}

Status Engine::SendEvent(HardwareQueue& queue) {
  if (queue.uncovered == 0) return OkStatus();
  if (queue.apart) {
    if (queue.count_in > 0) {
      --queue.count_in;
      return OkStatus();
    }
    queue.count_in = kTriesPerCount - 1;
    ASSIGN_OR_RETURN(const bool ended, dispatcher_->KernelsEnded({queue.index, queue.uncovered}));
    if (!ended) return OkStatus();
  }
  queue.apart = false;
  queue.count_in = 0;
  return dispatcher_->Event(queue.index, std::exchange(queue.uncovered, 0));
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

// The queue's time since its last completion goes to what has ended, by what each was expected to take. The card comes
// to a work when the one before has ended.
void Engine::ShareOut(HardwareQueue& queue, Duration cost, TimePoint now) {
  const TimePoint work_now = work_clock_.Now();
  const double expected = std::max(1.0, static_cast<double>(cost.count()));
  const auto part = [expected](const Work& work, Duration of) {
    return Duration(static_cast<Duration::rep>(static_cast<double>(work.cost.count()) / expected *
                                               static_cast<double>(of.count())));
  };
  TimePoint free_at = queue.retire_time;
  Duration busy{};
  for (Work& work : retired_) {
    work.device_time = part(work, work_now - queue.retire_work_time);
    work.began = std::max(free_at, work.submitted);
    free_at += part(work, now - queue.retire_time);
    busy += work.device_time;
    queue.order.Used(work, work.device_time);
  }
  queue.shown_busy_ns.fetch_add(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(busy).count()),
      std::memory_order_relaxed);
  queue.retire_work_time = work_now;
}

// Once for each program, however often it runs: who did damage a while ago is to be among them.
void Engine::Remember(const HardwareQueue& queue, const Work& work) {
  const auto same = [&work](const RecentLaunch& known) {
    return known.session == work.flow && *known.programs == *work.programs;
  };
  std::erase_if(recent_, same);
  if (recent_.size() == kRecentLaunches) recent_.pop_front();
  recent_.push_back({queue.index, work.flow, work.queue, work.value, work.programs});
}

void Engine::Retire(HardwareQueue& queue, TimePoint now) {
  const uint64_t completed = dispatcher_->completed(queue.index);
  Duration cost{};
  while (!queue.in_flight.empty() && queue.in_flight.front().ticket <= completed) {
    Work& work = queue.in_flight.front().work;
    cost += work.cost;
    queue.CostOf(work) -= work.cost;
    if (work.runs_kernels()) {
      launches_.fetch_add(work.launches, std::memory_order_relaxed);
      if (work.flow != kernel_flow_) {
        many_flows_ |= kernel_flow_ != 0;
        kernel_flow_ = work.flow;
      }
      Remember(queue, work);
    } else {
      (work.read_into ? bytes_read_ : bytes_written_)
          .fetch_add(work.bytes, std::memory_order_relaxed);
    }
    work.track->Ended(work.number);
    retired_.push_back(std::move(work));
    queue.in_flight.pop_front();
  }
  if (retired_.empty()) return;
  queue.shown_completed.fetch_add(retired_.size(), std::memory_order_relaxed);
  ShareOut(queue, cost, now);
  queue.progress_time = queue.retire_time = now;
  queue.looked = false;
  for (size_t begin = 0; begin < retired_.size();) {
    size_t end = begin;
    WorkOwner* const owner = retired_[begin].owner.get();
    while (end < retired_.size() && retired_[end].owner.get() == owner) ++end;
    owner->Done(std::span(retired_).subspan(begin, end - begin));
    begin = end;
  }
  retired_.clear();
  round_had_news_ = true;
}

}  // namespace ttfd
