// One hardware queue of a booted card: its rings, what was submitted to it, what is known to be done.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "runtime/command/go_table.h"
#include "runtime/command/ordering.h"
#include "runtime/dispatch/card_link.h"
#include "runtime/dispatch/read_tracker.h"
#include "runtime/queue/timeline.h"

namespace ttfd {

struct CardQueue {
  // What is known once an event is seen.
  struct EventMark {
    Ordering::Mark ordering;
    uint32_t entries = 0;  // the card has taken every entry below
  };

  // As before a boot: nothing is in flight, tickets go on.
  void Forget();

  // The command just encoded has its ticket. `first_entry`: the first that has anything of it.
  uint64_t Submitted(uint32_t first_entry);
  // Everything up to `ticket`, which has not completed. REQUIRES that it was given.
  const Ordering::Mark& MarkOf(uint64_t ticket) const {
    return marks_[ticket - timeline.completed() - 1].mark;
  }
  // The same of everything before it.
  const Ordering::Mark& MarkBefore(uint64_t ticket) const {
    return ticket == timeline.completed() + 1 ? completed_mark_ : MarkOf(ticket - 1);
  }
  uint32_t FirstEntryOf(uint64_t ticket) const {
    return marks_[ticket - timeline.completed() - 1].first_entry;
  }
  // The entries below were done at the last event that was seen.
  uint32_t entries_done() const { return entries_done_; }
  // Asks for an event behind everything up to `ticket`.
  Status Event(uint32_t number, uint64_t ticket);
  // The same behind `mark`, which may be later.
  Status EventBehind(uint32_t number, uint64_t ticket, const Ordering::Mark& mark);
  // The card published a completion record.
  Status Seen(const CompletionQueue::Record& record);
  // Takes all records the card has published; how many there were.
  StatusOr<uint32_t> Collect();
  // Is the host told of everything it asked for, and has the card taken every entry?
  bool settled() const {
    return link->ring().entries_freed() == link->ring().entries_closed() &&
           !timeline.waits_for_events() && !reads.waits();
  }

  std::unique_ptr<CardLink> link;  // null until booted
  Ordering ordering;
  ReadTracker reads;
  Timeline<EventMark> timeline;
  GoTable go_table;

 private:
  struct TicketMark {
    Ordering::Mark mark;
    uint32_t first_entry = 0;
  };
  std::deque<TicketMark> marks_;   // of tickets completed() + 1 and on
  Ordering::Mark completed_mark_;  // of ticket completed()
  uint32_t entries_done_ = 0;
};

}  // namespace ttfd
