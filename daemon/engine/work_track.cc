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

bool WorkTrack::EndsWithin(uint64_t number, Duration most) const {
  if (passed() < number) return false;
  for (const Submission& submission : in_flight_) {
    if (submission.number > number) break;
    most -= submission.cost;
  }
  return most >= Duration::zero();
}

std::optional<Ticket> WorkTrack::TicketOf(uint64_t number) const {
  const auto behind = std::upper_bound(
      in_flight_.begin(), in_flight_.end(), number,
      [](uint64_t wanted, const Submission& known) { return wanted < known.number; });
  if (behind == in_flight_.begin()) return std::nullopt;
  return std::prev(behind)->ticket;
}

}  // namespace ttfd
