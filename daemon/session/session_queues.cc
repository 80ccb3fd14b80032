// Waits between queues, and what of them has ended.
#include "daemon/session/session_queues.h"

namespace ttfd {

SessionQueue& SessionQueues::Open(uint32_t queue, const Route& route) {
  SessionQueue& opened = queues_.try_emplace(queue, share_, queue, route).first->second;
  opened.route = route;
  return opened;
}

SessionQueue* SessionQueues::Find(uint32_t queue) {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

void SessionQueues::End(SessionQueue& queue, uint64_t value, uint64_t commands, uint64_t cost) {
  commands_ended_ += commands;
  queue.completed = value;
  outbox_.SetProgress(queue.id, value, cost);
}

Refusal SessionQueues::CheckWait(const QueuePosition& wait) const {
  const FailureHistory& failures = At(wait.queue).failures;
  if (const QueuePosition* const cause = failures.CauseOf(wait.value)) return CausedByError(*cause);
  if (!failures.OutcomeUnknown(wait.value)) return std::nullopt;
  return MakeError(StatusCode::kOutOfRange, reason::kInvalid, "batch.waits",
                   "a wait for command {} of queue {}: whether it failed is not recorded any more, "
                   "the queue has failed more than {} times since; wait for a later value",
                   wait.value, wait.queue, FailureHistory::kRanges);
}

uint64_t SessionQueues::failures() const {
  uint64_t failures = 0;
  for (const auto& [id, queue] : queues_) failures += queue.times_failed;
  return failures;
}

bool SessionQueues::finished() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second.operations.empty(); });
}

bool SessionQueues::wait_for_data() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& entry) {
    const SessionQueue& queue = entry.second;
    if (queue.operations.empty() || queue.slices.next() != nullptr) return false;
    const Operation& front = *queue.operations.front();
    return front.outstanding == 0 && front.LacksData();
  });
}

bool SessionQueues::have_slices() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second.slices.next() != nullptr; });
}

bool SessionQueues::wait_for_output() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& entry) {
    const SessionQueue& queue = entry.second;
    return queue.passed < queue.begun && queue.slices.next() == nullptr &&
           std::holds_alternative<ReadOperation>(queue.operations[queue.passed]->body);
  });
}

}  // namespace ttfd
