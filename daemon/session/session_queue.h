// One queue of a session: its place on the card, the commands that have not ended, their slices, the error it is in.
//
// The scheduler pulls: it looks at the next slice, and has the queue make another when the card has taken it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/session/card_resources.h"
#include "daemon/session/operation.h"
#include "daemon/session/queue_errors.h"
#include "daemon/session/queue_slices.h"
#include "daemon/session/queue_timeline.h"

namespace ttfd {

struct SessionQueue {
  // All outlive the queue.
  SessionQueue(const SessionShare& its_share, uint32_t its_id, CardResources* its_card,
               const Route& its_route)
      : share(its_share), id(its_id), card(its_card), route(its_route) {}

  const SessionShare& share;
  const uint32_t id;
  CardResources* card;  // that it is opened on
  Route route;

  uint64_t sent = 0;
  uint64_t completed = 0;
  std::shared_ptr<TraceObject> recording;  // continues in the next command

  QueueTimeline timeline;
  QueueSlices slices;
  std::vector<QueueWait> after;  // of the next slice: what operations that have passed wait for
  QueueErrors errors;

  bool Ended(uint64_t value) const { return value <= completed; }
  // Everything up to this value has begun.
  bool Begun(uint64_t value) const { return Ended(value) || timeline.Begun(value); }
  // Is the value reached for a slice of this card? The device orders what the card has: it is there once the card has
  // all slices up to it, and what of them has not ended should take no longer than `most`. Of a queue on another card
  // it has to have ended.
  bool EndsWithin(uint64_t value, Duration most, const CardResources* of) const {
    if (of != card) return Ended(value);
    return Ended(value) || (timeline.Passed(value) && slices.EndsWithin(value, most));
  }
  // A reset removed a slice from the card: it is the next again. The youngest first.
  void Return(const Ticket& ticket, Slice slice);
  // Nothing of it is to be given to the card any more: takes all operations.
  QueueTimeline::Operations TakeAll();
  void MarkFailed(Operation* operation, ErrorReply error);
  // The same for an operation whose error is still to come.
  void MarkFailedFrom(const Operation& operation);
};

}  // namespace ttfd
