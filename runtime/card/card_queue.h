// One hardware queue of a booted card: its rings, what was submitted to it, what is known to be done.
//
// Commands are done in their order, and events report them. Launches on workers of their own are independent: the card
// executes what comes behind them meanwhile. Each is done when its own workers have answered, which dispatch_s
// publishes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/staged.h"
#include "runtime/card/card_link.h"
#include "runtime/card/queue_state.h"
#include "runtime/card/read_tracker.h"
#include "runtime/card/trace_undo.h"
#include "runtime/command/go_table.h"
#include "runtime/command/ordering.h"
#include "runtime/command/record_batch.h"
#include "runtime/queue/timeline.h"

namespace ttfd {

struct CardQueue {
  // `max_record_bytes`: the largest entry the rings take.
  explicit CardQueue(uint32_t max_record_bytes) : plan(max_record_bytes) {}

  // State that is certain once an event is seen.
  struct EventMark {
    Ordering::Mark ordering;
    uint32_t entries = 0;  // the card has taken every entry below
  };
  // Where the encoding of a command begins.
  struct Begin {
    uint32_t entry = 0;   // the first that has anything of it
    uint32_t offset = 0;  // from which on
    uint32_t event = 0;   // id of the last event encoded before it
    StreamCounts gos{};   // sent before it
  };
  // A command that is not known to be done.
  struct Pending : CommandState {
    Ordering::Mark mark;        // that the card has to be behind
    uint32_t first_offset = 0;  // from which on, in its first entry
    uint32_t last_entry = 0;    // the last, up to this
    uint32_t last_offset = 0;
    bool independent = false;
    bool shares_entry = false;  // there are others behind it in its last entry
    bool passed = false;        // independent: the ring does not hold its records any more
    struct Records {
      uint32_t entry = 0;
      std::vector<std::byte> bytes;
    };
    std::vector<Records> records;  // once it is passed
    std::unique_ptr<TraceUndo> undo;
  };

  // Changes of a command here, besides `ordering` and `go_table`. None of them happens before Commit.
  struct Plan {
    explicit Plan(uint32_t max_record_bytes) : waits(max_record_bytes), batch(max_record_bytes) {}
    void Clear();

    RecordBatch waits;  // for other commands, before this one begins
    RecordBatch batch;
    ReadTracker::Sink sink;  // of the read whose pieces are asked for
    std::vector<ReadPiece> pieces;
  };

  // As before a boot: what was in flight is discarded, tickets go on.
  void Forget();

  // Does what is planned fit the rings now, and behind it so many events? Announces what is not announced if not.
  StatusOr<bool> Fits(uint32_t events);
  // Would it fit empty rings? RESOURCE_EXHAUSTED if not.
  Status CheckSize(uint32_t events) const {
    return link->CheckSize({&plan.waits, &plan.batch}, events);
  }
  // Puts what is planned on the ring; where what comes behind the waits begins.
  StatusOr<Begin> Commit();
  // Nothing of it happens.
  void Drop();
  // The command whose records were committed last, from `begin` on, has its ticket. `undo`: of what it changed in the
  // host's copy of a trace, or null.
  uint64_t Submitted(const Begin& begin, bool independent, std::unique_ptr<TraceUndo> undo);
  // Undoes what a command that has not started changed in the host's records. The youngest first.
  void Undo(uint64_t ticket);
  const std::deque<Pending>& pending() const { return pending_; }
  // Null: nothing of the ticket is on the card. REQUIRES that it was given.
  const Pending* Find(uint64_t ticket) const;
  // Tickets that ended since ClearEnded.
  std::span<const uint64_t> ended() const { return ended_; }
  void ClearEnded() { ended_.clear(); }
  // Nothing up to this ticket is on the card any more.
  uint64_t completed() const {
    return pending_.empty() ? timeline.submitted() : pending_.front().ticket - 1;
  }
  // Is the ticket known to be done? Of those that Forget may have discarded it is not.
  bool IsDone(uint64_t ticket) const {
    return Find(ticket) == nullptr && (ticket > unknown_to_ || ticket <= unknown_after_);
  }
  // Nothing that the card would report is outstanding.
  bool idle() const { return pending_.empty() && !timeline.waits_for_events() && !reads.waits(); }
  QueueState state() const;
  // The entries below were done at the last event that was seen.
  uint32_t entries_done() const { return entries_done_; }
  // Asks for an event behind everything up to `ticket` but independent launches.
  // False, here and below: there is no space now, nothing has changed.
  StatusOr<bool> Event(uint32_t number, uint64_t ticket);
  // Asks for an event behind `mark`, which reports everything up to `ticket`.
  StatusOr<bool> EventBehind(uint32_t number, uint64_t ticket, const Ordering::Mark& mark);
  // Is there an independent launch that is not known to be done?
  bool HasIndependentLaunches() const { return independent_ > 0; }
  // The card published a completion record.
  Status Seen(const CompletionQueue::Record& record);
  // Takes all that the card has published: completion records, and answers to independent launches. How many there
  // were.
  StatusOr<uint32_t> Collect();
  // Is the host told of everything it asked for, and has the card taken every entry?
  bool settled() const {
    return link->ring().entries_freed() == link->ring().entries_closed() &&
           !timeline.waits_for_events() && !reads.waits();
  }

  std::unique_ptr<CardLink> link;  // null until booted
  Staged<Ordering> ordering;
  Staged<GoTable> go_table;
  Plan plan;
  ReadTracker reads;
  Timeline<EventMark> timeline;

 private:
  // Marks independent launches that have ended as done; returns how many.
  StatusOr<uint32_t> CollectIndependent();
  void Done(uint64_t ticket, const StreamCounts& workers);
  void KeepRecordsBelow(uint32_t entry);
  // The card is done with the entries below.
  void FreeBelow(uint32_t entry);

  std::deque<Pending> pending_;  // in the order of their tickets
  std::vector<uint64_t> ended_;
  // Tickets after the one and up to the other may have been discarded.
  uint64_t unknown_after_ = 0;
  uint64_t unknown_to_ = 0;
  size_t independent_ = 0;   // of them
  StreamCounts in_order_{};  // what launches in order have made the counts so far
  StreamCounts answered_{};  // go signals, when it was looked at last
  uint32_t entries_done_ = 0;
};

}  // namespace ttfd
