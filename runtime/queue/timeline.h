// Submitted and completed work: tickets, and the events that report them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "runtime/abi/rings.h"

namespace ttfd {

// Tickets are dense from 1 and 64 bits wide: they outlive a boot and never wrap. Events are 32-bit
// words that do wrap; they are dense too and come back in order. What an event tells of is its owner's business.
template <typename Mark>
class Timeline {
 public:
  struct Event {
    uint32_t id = 0;
    uint64_t ticket = 0;
    Mark mark{};
  };

  uint64_t Submit() { return ++submitted_; }
  uint64_t submitted() const { return submitted_; }
  bool waits_for_events() const { return !asked_.empty(); }

  // An event that tells of `ticket`; its id goes into the record.
  uint32_t Ask(uint64_t ticket, const Mark& mark) {
    asked_.push_back({next_event_, ticket, mark});
    return next_event_++;
  }

  // The card reported event `id`. None if it is not the one that is due.
  std::optional<Event> Seen(uint32_t id) {
    if (asked_.empty() || asked_.front().id != id) return std::nullopt;
    const Event event = asked_.front();
    asked_.pop_front();
    return event;
  }
  uint32_t due() const { return asked_.empty() ? next_event_ : asked_.front().id; }
  uint32_t next_event() const { return next_event_; }

  // No event will come any more. Numbers go on, so that no ticket means two things.
  void Forget() { asked_.clear(); }

  // For tests: the next event's id.
  void StartEventsAt(uint32_t id) { next_event_ = id; }

 private:
  uint64_t submitted_ = 0;
  uint32_t next_event_ = 1;
  std::deque<Event> asked_;
};

}  // namespace ttfd
