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

  // The command just encoded has its ticket.
  uint64_t Submitted();
  // Everything up to `ticket`, which has not completed. REQUIRES that it was given.
  const Ordering::Mark& MarkOf(uint64_t ticket) const {
    return marks_[ticket - timeline.completed() - 1];
  }
  // Asks for an event behind everything up to `ticket`.
  Status Event(uint32_t number, uint64_t ticket);
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
  std::deque<Ordering::Mark> marks_;  // of tickets completed() + 1 and on
};

}  // namespace ttfd
