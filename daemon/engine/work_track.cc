// What of a queue is on the device.
#include "daemon/engine/work_track.h"

#include <algorithm>

namespace ttfd {

// Everything before it has ended, too, or is about to: works of a queue end in their order, but for those a reset
// takes away together.
void WorkTrack::Ended(uint64_t number) {
  while (!in_flight_.empty() && in_flight_.front().number <= number) in_flight_.pop_front();
}

void WorkTrack::Returned(uint64_t number) {
  while (!in_flight_.empty() && in_flight_.back().number >= number) in_flight_.pop_back();
  returned_.push_front(number);
}

void WorkTrack::Pass(uint64_t number) {
  if (!returned_.empty() && returned_.front() == number) returned_.pop_front();
  highest_ = std::max(highest_, number);
}

WorkTrack::InFlight::const_iterator WorkTrack::LastUpTo(uint64_t number) const {
  const auto after = std::upper_bound(
      in_flight_.begin(), in_flight_.end(), number,
      [](uint64_t wanted, const Submission& known) { return wanted < known.number; });
  return after == in_flight_.begin() ? in_flight_.end() : std::prev(after);
}

bool WorkTrack::EndsWithin(uint64_t number, Duration most) const {
  if (passed() < number) return false;
  const auto last = LastUpTo(number);
  return last == in_flight_.end() || last->through - in_flight_.front().before <= most;
}

std::optional<Ticket> WorkTrack::TicketOf(uint64_t number) const {
  const auto last = LastUpTo(number);
  if (last == in_flight_.end()) return std::nullopt;
  return last->ticket;
}

}  // namespace ttfd
