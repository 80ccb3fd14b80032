// The slices of one queue: those that the card is to be given next, and how far it is with those that it has.
//
// A queue's slices are submitted in the order of its commands. For what waits for a command of the queue they say
// whether everything up to it is on the card, how long that should take, and which ticket stands for it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "daemon/session/slice.h"
#include "runtime/base/clock.h"
#include "runtime/card/card.h"

namespace ttfd {

// Device thread.
class QueueSlices {
 public:
  // ---- what the card has not been given

  // Null: there is none now. Stays where it is until it is submitted or dropped.
  Slice* next() { return next_.empty() ? nullptr : &next_.front(); }
  const Slice* next() const { return next_.empty() ? nullptr : &next_.front(); }
  void Append(Slice slice) { next_.push_back(std::move(slice)); }
  // Drops those of commands from this value on.
  void DropFrom(uint64_t value);
  // Drops all of them, and clears the joins.
  void Clear();

  // ---- what is on the card

  // The card has taken the next one, which is expected to take its cost there.
  Slice Submitted(const Ticket& ticket);
  // A submitted slice has ended, and so has everything before it, or is about to.
  void Ended(const Ticket& ticket);
  // A reset removed a submitted slice from the card: it is the next again. The youngest first.
  void Return(const Ticket& ticket, Slice slice);

  // The same, but it is given up.
  void TakeOff(const Ticket& ticket);

  // A command without slices (a barrier) has waits that have not ended: other queues wait until it ends.
  void AddJoin(uint64_t value) { joins_.push_back(value); }
  void EndJoins(uint64_t through);

  // Estimates whether the commands up to `value`, all of which have been submitted, end within `most`.
  // Logarithmic: asked for each wait of each queue that may come next.
  bool EndsWithin(uint64_t value, Duration most) const;
  // The ticket with which everything up to `value` is done; none: it is done already.
  std::optional<Ticket> TicketOf(uint64_t value) const;

  bool listed = false;  // the scheduler has the queue among those with a next slice
  bool listing_changed() const { return listed == next_.empty(); }

 private:
  struct Submission {
    uint64_t value;
    Ticket ticket;
    Duration before;   // cost of all since the queue last had nothing on the card
    Duration through;  // the same with its own
  };
  using OnCard = std::deque<Submission>;

  // The last on the card of commands up to this value; end: none.
  OnCard::const_iterator LastUpTo(uint64_t value) const;

  std::deque<Slice> next_;
  OnCard on_card_;              // ascending
  std::deque<uint64_t> joins_;  // ascending
};

}  // namespace ttfd
