// The queues of a session, and what all of them share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "daemon/api/errors.h"
#include "daemon/session/outbox.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

// Device thread.
class SessionQueues {
 public:
  // `share` outlives the queues.
  explicit SessionQueues(const SessionShare& share) : share_(share) {}

  std::map<uint32_t, SessionQueue>& all() { return queues_; }
  const std::map<uint32_t, SessionQueue>& all() const { return queues_; }
  // Stays where it is. REQUIRES that there is none with this number, or that its OpenQueue failed.
  SessionQueue& Open(uint32_t queue, CardResources& card, const Route& route);
  // Has a queue been opened on the card, or could not be?
  bool Use(const CardResources& card) const;
  SessionQueue* Find(uint32_t queue);
  // REQUIRES that the queue was opened.
  const SessionQueue& At(uint32_t queue) const { return queues_.at(queue); }
  bool Ended(const QueuePosition& position) const {
    return At(position.queue).Ended(position.value);
  }

  // Everything up to this value has ended, so many commands; the last of them held so much of the window.
  void End(SessionQueue& queue, uint64_t value, uint64_t commands, uint64_t cost);
  uint64_t commands_ended() const { return commands_ended_; }
  // Progress that the outbox does not have yet: Outbox::Announce takes it.
  Outbox::Progress& progress() { return progress_; }
  // There is such progress, and each of these queues has commands that have not ended.
  bool ProgressContinues() const;

  // Why a command that its client made wait for this value does not run; none: the value ended well, or has not ended.
  Refusal CheckWait(const QueuePosition& wait) const;
  // Whether the values for which an operation waits have begun. kRefused: one has failed; `error` is its error then.
  Readiness CheckWaits(const Operation& op, ErrorReply* error) const;
  // The operation waits for values that have not ended.
  void DropEndedWaits(Operation* op) const;
  bool WaitsOver(const Operation& op) const;
  // Fails operations of the queue that have begun and wait for a value that failed, or will not run. True: some did.
  bool FailWaiters(SessionQueue& queue);
  // An operation that failed on the card, retryably, has the error of a value that it waits for, if that failed.
  void AdoptCause(Operation* op) const;

  bool finished() const;  // no command has not ended
  // The card has nothing of a streamed command that waits for the client.
  bool wait_for_data() const;
  // The card is to be given slices.
  bool have_slices() const;
  // A read waits for its client to take what there is.
  bool wait_for_output() const;
  // Sets the positions, and what the session waits for as far as it follows from its commands.
  void Describe(SessionInfoReply* info) const;

  // The earliest start deadline of a command; may be that of one that has started.
  TimePoint next_deadline() const { return next_deadline_; }
  void AddDeadline(TimePoint deadline) { next_deadline_ = std::min(next_deadline_, deadline); }
  void ClearDeadlines() { next_deadline_ = TimePoint::max(); }

 private:
  // Grows whenever a queue fails, or is known to.
  uint64_t failures() const;

  const SessionShare& share_;
  std::map<uint32_t, SessionQueue> queues_;
  uint64_t commands_ended_ = 0;
  Outbox::Progress progress_;
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace ttfd
