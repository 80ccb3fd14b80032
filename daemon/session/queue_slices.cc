// The slices of one queue: submitted, ended, requeued.
#include "daemon/session/queue_slices.h"

#include <algorithm>
#include <utility>

namespace ttfd {

void QueueSlices::DropFrom(uint64_t value) {
  while (!next_.empty() && next_.back().value() >= value) next_.pop_back();
}

void QueueSlices::Clear() {
  next_.clear();
  joins_.clear();
}

Slice QueueSlices::Submitted(const Ticket& ticket) {
  Slice slice = std::move(next_.front());
  next_.pop_front();
  const Duration before = on_card_.empty() ? Duration::zero() : on_card_.back().through;
  on_card_.push_back({slice.value(), ticket, before, before + slice.times.cost});
  return slice;
}

// Slices of a queue end in their order, but for those that a reset takes away together.
void QueueSlices::Ended(const Ticket& ticket) {
  while (!on_card_.empty() && on_card_.front().ticket.number <= ticket.number) {
    on_card_.pop_front();
  }
}

void QueueSlices::TakeOff(const Ticket& ticket) {
  while (!on_card_.empty() && on_card_.back().ticket.number >= ticket.number) on_card_.pop_back();
}

void QueueSlices::Return(const Ticket& ticket, Slice slice) {
  TakeOff(ticket);
  next_.push_front(std::move(slice));
}

void QueueSlices::EndJoins(uint64_t through) {
  while (!joins_.empty() && joins_.front() <= through) joins_.pop_front();
}

QueueSlices::OnCard::const_iterator QueueSlices::LastUpTo(uint64_t value) const {
  const auto after = std::upper_bound(
      on_card_.begin(), on_card_.end(), value,
      [](uint64_t wanted, const Submission& known) { return wanted < known.value; });
  return after == on_card_.begin() ? on_card_.end() : std::prev(after);
}

bool QueueSlices::EndsWithin(uint64_t value, Duration most) const {
  if (!joins_.empty() && joins_.front() <= value) return false;
  const auto last = LastUpTo(value);
  return last == on_card_.end() || last->through - on_card_.front().before <= most;
}

std::optional<Ticket> QueueSlices::TicketOf(uint64_t value) const {
  const auto last = LastUpTo(value);
  if (last == on_card_.end()) return std::nullopt;
  return last->ticket;
}

}  // namespace ttfd
