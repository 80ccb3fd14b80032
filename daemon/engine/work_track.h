// How far the device thread is with one queue of a session: what works of other queues wait for.
//
// Works of a queue are numbered densely and submitted, or given up, in this order. A wait names a number; the device
// thread learns here whether that work has been submitted yet, and which ticket stands for it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "runtime/base/clock.h"
#include "runtime/command/route.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

class WorkTrack {
 public:
  explicit WorkTrack(const Route& route) : route_(route) {}

  const Route& route() const { return route_; }  // any thread

  // ---- device thread

  // `cost`: what it is expected to take.
  void Submitted(uint64_t number, const Ticket& ticket, Duration cost) {
    Pass(number);
    const Duration before = in_flight_.empty() ? Duration::zero() : in_flight_.back().through;
    in_flight_.push_back({number, ticket, before, before + cost});
  }
  void GivenUp(uint64_t number) { Pass(number); }  // will not be submitted
  void Ended(uint64_t number);                     // was submitted
  // Was submitted, and will be again or is given up, as everything behind it that has not ended. The youngest first.
  void Returned(uint64_t number);

  // Everything up to `number` has been submitted, and what of it has not ended should take no longer than `most`.
  // Logarithmic: asked for each wait of each queue that may come next.
  bool EndsWithin(uint64_t number, Duration most) const;
  // The ticket with which everything up to `number` is done; none: it is done already.
  std::optional<Ticket> TicketOf(uint64_t number) const;

 private:
  struct Submission {
    uint64_t number;
    Ticket ticket;
    Duration before;   // cost of all since the track last had nothing in flight
    Duration through;  // the same with its own
  };

  using InFlight = std::deque<Submission>;

  void Pass(uint64_t number);
  // The last in flight with at most this number; end: none.
  InFlight::const_iterator LastUpTo(uint64_t number) const;
  // Everything up to here has been submitted, or will not be. Not what has ended behind what has to be submitted again.
  uint64_t passed() const { return returned_.empty() ? highest_ : returned_.front() - 1; }

  const Route route_;
  uint64_t highest_ = 0;           // that was ever submitted or given up
  std::deque<uint64_t> returned_;  // of these the ones to be submitted again, ascending
  InFlight in_flight_;             // ascending
};

// Everything of `track` up to the work with this number.
struct WorkWait {
  std::shared_ptr<const WorkTrack> track;
  uint64_t number = 0;
};

}  // namespace ttfd
