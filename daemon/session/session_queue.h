// One queue of a session: its timeline, the commands that have not ended, the error it is in.
//
// Operations keep the order of their values, and stay here until they end. The first ones have begun: what they name
// exists. Of these, the first ones have passed: the card has all of their slices. The first ends first:
//
//   completed         passed            begun              sent
//      |  o o o o o o   |  o o o o o o o  |  o o o o o o o  |
//         on the card      may be given      waiting
//                          to the card
//
// The scheduler pulls: it looks at the next slice, and has the queue make another when the card has taken it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/session/operation.h"
#include "daemon/session/queue_slices.h"

namespace ttfd {

// Values that ended with an error, for commands that wait on them later. Bounded: of the oldest values the outcome is
// unknown once more than kRanges failures have followed.
class FailureHistory {
 public:
  static constexpr size_t kRanges = 1024;

  void Add(uint64_t first, uint64_t last, QueuePosition cause);
  // The first cause, if the command with this value is known to have failed.
  const QueuePosition* CauseOf(uint64_t value) const;
  // The command has ended, but whether it failed is not recorded any more.
  bool OutcomeUnknown(uint64_t value) const { return value <= unknown_through_; }

 private:
  struct Range {
    uint64_t first;
    uint64_t last;
    QueuePosition cause;
  };
  std::deque<Range> ranges_;  // ascending
  uint64_t unknown_through_ = 0;
};

struct SessionQueue {
  // `its_share` outlives the queue.
  SessionQueue(const SessionShare& its_share, uint32_t its_id, const Route& its_route)
      : share(its_share), id(its_id), route(its_route) {}

  const SessionShare& share;
  const uint32_t id;
  Route route;
  bool never_opened = false;  // its OpenQueue failed; what is sent here ends ABORTED

  uint64_t sent = 0;
  uint64_t completed = 0;
  std::shared_ptr<TraceObject> recording;  // continues in the next command

  std::deque<std::shared_ptr<Operation>> operations;
  size_t begun = 0;
  size_t passed = 0;
  QueueSlices slices;
  std::vector<QueueWait> after;  // of the next slice: what operations that have passed wait for
  size_t waiting = 0;            // operations that have begun and wait for values of other queues

  // An operation has an error, or will have that of a value it waits for, and is not at the head: what comes from this
  // value on will not run. 0: none.
  uint64_t failing_from = 0;
  // The queue has failed and waits to be cleared. 0: no.
  uint64_t failed_value = 0;
  QueuePosition cause;
  FailureHistory failures;
  uint64_t times_failed =
      0;  // or was failing: changes whenever those who wait for it may fail with it
  uint64_t failures_known = 0;  // of all queues, when those that wait here were last looked at
  std::vector<uint64_t> failed_handles;  // handles that name nothing because of this queue's error

  bool failed() const { return failed_value != 0; }
  bool failing() const { return failing_from != 0; }
  // Commands that come are not refused because of commands before them.
  bool accepts() const { return !failed() && !failing() && !never_opened; }
  bool Ended(uint64_t value) const { return value <= completed; }
  // Everything up to this value has begun.
  bool Begun(uint64_t value) const;
  // The card has all slices up to this value, and what of them has not ended should take no longer than `most`.
  bool EndsWithin(uint64_t value, Duration most) const;
  // A reset removed a slice from the card: it is the next again. The youngest first.
  void Return(const Ticket& ticket, Slice slice);
  // Nothing of it is to be given to the card any more, and no operation is here.
  void Clear();
  // The operation that stands for this value; null if it has ended or will not run.
  Operation* Find(uint64_t value) const;
  void MarkFailed(Operation* operation, ErrorReply error);
  // The same for an operation whose error is still to come.
  void MarkFailedFrom(const Operation& operation);
};

}  // namespace ttfd
