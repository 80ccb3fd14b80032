// The queues of a session, and what all of them share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "daemon/session/command_queue.h"
#include "daemon/session/errors.h"
#include "daemon/session/outbox.h"

namespace ttfd {

// Device thread.
class SessionQueues {
 public:
  // `outbox` outlives the queues.
  explicit SessionQueues(Outbox& outbox) : outbox_(outbox) {}

  std::map<uint32_t, CommandQueue>& all() { return queues_; }
  const std::map<uint32_t, CommandQueue>& all() const { return queues_; }
  CommandQueue* Find(uint32_t queue);
  // REQUIRES that the queue was opened.
  const CommandQueue& At(uint32_t queue) const { return queues_.at(queue); }
  bool Ended(const QueuePosition& position) const {
    return At(position.queue).Ended(position.value);
  }

  // Everything up to this value has ended, so many commands; the last of them held so much of the window.
  void End(CommandQueue& queue, uint64_t value, uint64_t commands, uint64_t cost);
  uint64_t commands_ended() const { return commands_ended_; }

  // Why a command that its client made wait for this value does not run; none: the value ended well, or has not ended.
  Refusal CheckWait(const QueuePosition& wait) const;
  // Grows whenever a queue fails, or is known to.
  uint64_t failures() const;

  bool finished() const;  // no command has not ended
  // A streamed command has begun and waits for the client.
  bool wait_for_data() const;

  // The earliest start deadline of a command; may be that of one that has started.
  TimePoint next_deadline() const { return next_deadline_; }
  void AddDeadline(TimePoint deadline) { next_deadline_ = std::min(next_deadline_, deadline); }
  void ClearDeadlines() { next_deadline_ = TimePoint::max(); }

 private:
  Outbox& outbox_;
  std::map<uint32_t, CommandQueue> queues_;
  uint64_t commands_ended_ = 0;
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace ttfd
