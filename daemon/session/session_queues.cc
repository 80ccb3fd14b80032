// Waits between queues, and what of them has ended.
#include "daemon/session/session_queues.h"

namespace ttfd {

SessionQueue& SessionQueues::Open(uint32_t queue, CardResources& card, const Route& route) {
  SessionQueue& opened = queues_.try_emplace(queue, share_, queue, &card, route).first->second;
  opened.card = &card;
  opened.route = route;
  return opened;
}

bool SessionQueues::Use(const CardResources& card) const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [&card](const auto& entry) { return entry.second.card == &card; });
}

SessionQueue* SessionQueues::Find(uint32_t queue) {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

void SessionQueues::End(SessionQueue& queue, uint64_t value, uint64_t commands, uint64_t cost) {
  commands_ended_ += commands;
  queue.completed = value;
  progress_.cost += cost;
  for (QueuePosition& known : progress_.queues) {
    if (known.queue != queue.id) continue;
    known.value = value;
    return;
  }
  progress_.queues.push_back({queue.id, value});
}

Refusal SessionQueues::CheckWait(const QueuePosition& wait) const {
  const FailureHistory& failures = At(wait.queue).errors.history();
  if (const QueuePosition* const cause = failures.CauseOf(wait.value)) return CausedByError(*cause);
  if (!failures.OutcomeUnknown(wait.value)) return std::nullopt;
  return MakeError(StatusCode::kOutOfRange, reason::kInvalid, "batch.waits",
                   "a wait for command {} of queue {}: whether it failed is not recorded any more, "
                   "the queue has failed more than {} times since; wait for a later value",
                   wait.value, wait.queue, FailureHistory::kRanges);
}

// An operation may begin when what it waits for has: the scheduler leaves its slices in the queue until those are on
// the card, and the card does the rest. A failing operation does not get there; its error comes first.
Readiness SessionQueues::CheckWaits(const Operation& op, ErrorReply* error) const {
  for (size_t i = 0; i < op.waits.size(); ++i) {
    const QueuePosition& wait = op.waits[i];
    const SessionQueue& other = At(wait.queue);
    if (!other.Begun(wait.value)) return Readiness::kBlocked;
    if (!other.Ended(wait.value) && other.errors.IsFailing(wait.value)) {
      return Readiness::kBlocked;
    }
    // An object that the operation names says itself whether the command that made it failed.
    const bool of_object = i >= op.asked_waits;
    if (of_object && other.errors.history().OutcomeUnknown(wait.value)) continue;
    if (Refusal refusal = CheckWait(wait)) {
      *error = *std::move(refusal);
      return Readiness::kRefused;
    }
  }
  return Readiness::kReady;
}

void SessionQueues::DropEndedWaits(Operation* op) const {
  std::erase_if(op->waits, [this](const QueuePosition& wait) { return Ended(wait); });
}

// Operations that have begun and wait for what failed, or will not run.
bool SessionQueues::FailWaiters(SessionQueue& queue) {
  // None waited for a failure when it began: without a new one there is nothing to find.
  if (!queue.errors.SeesNew(failures())) return false;
  bool changed = false;
  const QueueTimeline& timeline = queue.timeline;
  for (size_t i = 0; i < timeline.size() && i <= timeline.begun(); ++i) {
    Operation& op = *timeline.at(i);
    if (op.queued() || op.error) continue;
    for (const QueuePosition& wait : op.waits) {
      const SessionQueue& other = At(wait.queue);
      const QueuePosition* const cause = other.errors.history().CauseOf(wait.value);
      if (cause != nullptr) {
        queue.MarkFailed(&op, CausedByError(*cause));
        return true;
      }
      const bool failing = !other.Ended(wait.value) && other.errors.IsFailing(wait.value);
      if (!failing || queue.errors.IsFailing(op.first_value)) continue;
      queue.MarkFailedFrom(op);
      changed = true;
    }
  }
  return changed;
}

bool SessionQueues::WaitsOver(const Operation& op) const {
  return std::all_of(op.waits.begin(), op.waits.end(),
                     [this](const QueuePosition& wait) { return Ended(wait); });
}

// A reset may have taken what it waited for.
void SessionQueues::AdoptCause(Operation* op) const {
  for (const QueuePosition& wait : op->waits) {
    const QueuePosition* const cause = At(wait.queue).errors.history().CauseOf(wait.value);
    if (cause == nullptr) continue;
    const ExecutionState state = op->error->execution_state;
    *op->error = CausedByError(*cause);
    op->error->execution_state = state;  // it was on the card
  }
}

uint64_t SessionQueues::failures() const {
  uint64_t failures = 0;
  for (const auto& [id, queue] : queues_) failures += queue.errors.times();
  return failures;
}

bool SessionQueues::finished() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second.timeline.empty(); });
}

bool SessionQueues::ProgressContinues() const {
  const auto continues = [this](const QueuePosition& at) { return !At(at.queue).timeline.empty(); };
  return !progress_.queues.empty() &&
         std::all_of(progress_.queues.begin(), progress_.queues.end(), continues);
}

bool SessionQueues::wait_for_data() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& entry) {
    const SessionQueue& queue = entry.second;
    if (queue.timeline.empty() || queue.slices.next() != nullptr) return false;
    const Operation& front = *queue.timeline.front();
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
    const QueueTimeline& timeline = queue.timeline;
    return timeline.passed() < timeline.begun() && queue.slices.next() == nullptr &&
           std::holds_alternative<ReadOperation>(timeline.at(timeline.passed())->body);
  });
}

void SessionQueues::Describe(SessionInfoReply* info) const {
  info->devices.clear();
  info->submitted.clear();
  info->completed.clear();
  for (const auto& [number, queue] : queues_) {
    if (std::find(info->devices.begin(), info->devices.end(), queue.card->device) ==
        info->devices.end()) {
      info->devices.push_back(queue.card->device);
    }
    info->submitted.push_back({number, queue.sent});
    info->completed.push_back({number, queue.completed});
  }
  info->waits_for = wait_for_data()     ? SessionWait::kData
                    : wait_for_output() ? SessionWait::kOutput
                    : finished()        ? SessionWait::kNone
                                        : SessionWait::kCommands;
}

}  // namespace ttfd
