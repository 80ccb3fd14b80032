// The slices that the card has and that have not ended.
#include "daemon/card/in_flight.h"

#include <algorithm>

namespace ttfd {

InFlight::InFlight(Card& card, const Schedulers& schedulers, Clock& work_clock,
                   Duration independent_window)
    : card_(card),
      work_clock_(work_clock),
      bounds_(card.kernel_bounds()),
      queues_{{{0, *schedulers[0], independent_window}, {1, *schedulers[1], independent_window}}} {}

SubmittedSlice* InFlight::Find(const Ticket& ticket) {
  auto& in_flight = queues_[ticket.hardware_queue].in_flight;
  const auto found = std::lower_bound(
      in_flight.begin(), in_flight.end(), ticket.number,
      [](const SubmittedSlice& known, uint64_t number) { return known.ticket < number; });
  return found == in_flight.end() || found->ticket != ticket.number ? nullptr : &*found;
}

std::vector<SubmittedSlice*> InFlight::All() {
  std::vector<SubmittedSlice*> entries;
  for (HardwareQueue& queue : queues_) {
    for (SubmittedSlice& entry : queue.in_flight) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const SubmittedSlice* a, const SubmittedSlice* b) { return a->turn < b->turn; });
  return entries;
}

Status InFlight::Add(SessionQueue& from, const Ticket& ticket, std::vector<Ticket> after,
                     TimePoint now) {
  HardwareQueue& queue = queues_[ticket.hardware_queue];
  std::shared_ptr<Session> session = from.share.owner->shared_from_this();
  from.slices.next()->times.submitted = now;
  Slice submitted = session->Submitted(from, ticket);
  queue.in_flight.push_back(
      {std::move(session), std::move(submitted), ticket.number, ++turns_, std::move(after)});
  const Slice& slice = queue.in_flight.back().slice;
  bounds_.Begin(slice);
  if (!queue.busy.empty() || !queue.in_flight.front().watch.begun) {
    BeginTimes(queue, now, work_clock_.Now());
  }
  if (slice.runs_kernels()) RETURN_IF_ERROR(RequestEvent(queue));
  if (slice.independent()) {
    queue.busy.Add(slice);
  } else {
    queue.in_flight_cost += slice.times.cost;
    queue.uncovered = ticket.number;
  }
  return OkStatus();
}

Status InFlight::RequestEvent(HardwareQueue& queue) {
  if (queue.uncovered == 0) return OkStatus();
  ASSIGN_OR_RETURN(const bool asked, card_.RequestEvent({queue.index, queue.uncovered}));
  if (asked) queue.uncovered = 0;
  return OkStatus();
}

// Between transfers one event does for all. It stands between a launch and what may not overlap it.
StatusOr<bool> InFlight::RequestEventBefore(HardwareQueue& queue, const Slice& next) {
  if (queue.uncovered == 0) return true;
  const Slice& last = queue.in_flight.back().slice;
  if (!last.runs_kernels() && !next.runs_kernels()) return true;
  if (last.runs_kernels() && MayOverlap(last, next)) return true;
  RETURN_IF_ERROR(RequestEvent(queue));
  return queue.uncovered == 0;
}

// In the order of submission: slices that share no workers with independent kernels before them, and of the others the
// first. How far the card can come behind a slice that waits is not known.
void InFlight::BeginTimes(HardwareQueue& queue, TimePoint now, TimePoint work_now) {
  TileSet running;
  for (SubmittedSlice& entry : queue.in_flight) {
    const TileSet& workers = entry.slice.route.workers;
    if (running.any() && (workers.none() || (workers & running).any())) break;
    if (!entry.watch.begun) entry.watch.Begin(now, work_now);
    if (!entry.slice.independent()) break;
    running |= workers;
  }
}

// A session whose command has failed receives nothing of it any more.
void InFlight::Printed(CardOutput::Print& print) {
  SubmittedSlice* const found = Find(print.ticket);
  if (found == nullptr) return;
  if (found->session != nullptr) found->session->Printed(found->slice, std::move(print.print));
  AddNews();
}

// Slices that have ended share the time since the first of them could run, by the cost expected of each: the card
// comes to a slice when the one before has ended. Independent kernels share by their workers alone.
void InFlight::Measure(HardwareQueue& queue, TimePoint now, TimePoint work_now) {
  const auto part = [](const Slice& slice, double expected, Duration of) {
    return Duration(static_cast<Duration::rep>(static_cast<double>(slice.times.cost.count()) /
                                               expected * static_cast<double>(of.count())));
  };
  Duration busy{};
  for (size_t first = 0; first < ended_.size(); ++first) {
    if (owners_[first].measured) continue;
    const bool independent = ended_[first].independent();
    const auto together = [&](size_t i) {
      return !owners_[i].measured && ended_[i].independent() == independent &&
             (!independent || ended_[i].route.workers == ended_[first].route.workers);
    };
    Duration cost{};
    for (size_t i = first; i < ended_.size(); ++i) {
      if (together(i)) cost += ended_[i].times.cost;
    }
    const double expected = std::max(1.0, static_cast<double>(cost.count()));
    const Watch& watch = owners_[first].watch;
    // It ended together with what it waited for: how long it ran itself is not known.
    const Duration ran = watch.begun ? now - watch.began : cost;
    const Duration used = watch.begun ? work_now - watch.work_began : cost;
    TimePoint free_at = now - ran;
    for (size_t i = first; i < ended_.size(); ++i) {
      if (!together(i)) continue;
      Slice& slice = ended_[i];
      slice.times.device_time = part(slice, expected, used);
      slice.times.began = std::max(free_at, slice.times.submitted);
      free_at += part(slice, expected, ran);
      busy += slice.times.device_time;
      queue.scheduler.Used(slice, slice.times.device_time);
      owners_[i].measured = true;
    }
  }
  queue.AddBusy(busy);
}

void InFlight::TakeOff(HardwareQueue& queue, SubmittedSlice* entry) {
  Slice& slice = entry->slice;
  if (slice.independent()) {
    queue.busy.Remove(slice);
  } else {
    queue.in_flight_cost -= slice.times.cost;
  }
  stats_.Add(slice);
  if (slice.runs_kernels()) recent_launches_.Add(queue.index, slice);
  bounds_.Ended(slice);
  slice.queue->slices.Ended({queue.index, entry->ticket});
  ended_.push_back(std::move(slice));
  owners_.push_back({std::move(entry->session), entry->watch});
  entry->ended = true;
}

void InFlight::Retire(TimePoint now) {
  for (CardOutput::Print& print : output_.prints) Printed(print);
  for (HardwareQueue& queue : queues_) RetireQueue(queue, now);
  output_.Clear();
}

// A slice that ended next to independent kernels that have not is not at the front.
void InFlight::RetireQueue(HardwareQueue& queue, TimePoint now) {
  for (const Ticket& ticket : output_.ended) {
    if (ticket.hardware_queue != queue.index) continue;
    SubmittedSlice* const entry = Find(ticket);
    if (entry != nullptr) TakeOff(queue, entry);
  }
  if (ended_.empty()) return;
  auto& in_flight = queue.in_flight;
  while (!in_flight.empty() && in_flight.front().ended) in_flight.pop_front();
  if (!queue.busy.empty()) {
    std::erase_if(in_flight, [](const SubmittedSlice& entry) { return entry.ended; });
  }
  queue.shown_completed.fetch_add(ended_.size(), std::memory_order_relaxed);
  const TimePoint work_now = work_clock_.Now();
  Measure(queue, now, work_now);
  BeginTimes(queue, now, work_now);
  for (size_t begin = 0; begin < ended_.size();) {
    size_t end = begin;
    Session* const session = owners_[begin].session.get();
    while (end < ended_.size() && owners_[end].session.get() == session) ++end;
    session->Done(std::span(ended_).subspan(begin, end - begin));
    begin = end;
  }
  ended_.clear();
  owners_.clear();
  AddNews();
}

void InFlight::RetireStopped(SubmittedSlice& entry) {
  Slice& slice = entry.slice;
  HardwareQueue& queue = queues_[slice.route.hardware_queue];
  queue.scheduler.Refund(slice);  // what it took is not known
  stats_.Add(slice);
  if (slice.runs_kernels()) recent_launches_.Add(queue.index, slice);
  queue.shown_completed.fetch_add(1, std::memory_order_relaxed);
  slice.queue->slices.Ended({queue.index, entry.ticket});
  slice.times.began = std::max(entry.watch.began, slice.times.submitted);
  entry.session->Done(std::span(&slice, 1));
}

void InFlight::Fail(const SliceError& error) {
  for (HardwareQueue& queue : queues_) {
    for (const SubmittedSlice& entry : std::exchange(queue.in_flight, {})) {
      if (entry.session == nullptr) continue;  // its command has failed already
      queue.scheduler.Refund(entry.slice);
      entry.slice.queue->slices.Ended({queue.index, entry.ticket});
      entry.session->Failed(entry.slice, error);
    }
  }
  Clear();
}

void InFlight::Clear() {
  for (HardwareQueue& queue : queues_) queue.ClearInFlight();
  output_.Clear();
  AddNews();
}

// Slices that may still be taken are not checked: the lease gate ensures that none of them disturbs.
void InFlight::CheckQuiet() {
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
    AddNews();
  }
}

}  // namespace ttfd
