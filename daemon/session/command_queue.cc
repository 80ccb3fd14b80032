// The timeline of one queue.
#include "daemon/session/command_queue.h"

#include <algorithm>
#include <utility>

namespace ttfd {

void FailureHistory::Add(uint64_t first, uint64_t last, QueuePosition cause) {
  if (!ranges_.empty() && ranges_.back().last + 1 == first && ranges_.back().cause == cause) {
    ranges_.back().last = last;
    return;
  }
  ranges_.push_back({first, last, cause});
  if (ranges_.size() <= kRanges) return;
  unknown_through_ = ranges_.front().last;
  ranges_.pop_front();
}

const QueuePosition* FailureHistory::CauseOf(uint64_t value) const {
  const auto range =
      std::lower_bound(ranges_.begin(), ranges_.end(), value,
                       [](const Range& known, uint64_t wanted) { return known.last < wanted; });
  return range != ranges_.end() && range->first <= value ? &range->cause : nullptr;
}

Task* CommandQueue::Find(uint64_t value) const {
  const auto task = std::lower_bound(
      tasks.begin(), tasks.end(), value,
      [](const auto& known, uint64_t wanted) { return known->last_value < wanted; });
  return task != tasks.end() && (*task)->first_value <= value ? task->get() : nullptr;
}

void CommandQueue::Doom(Task* task, ErrorReply error) {
  if (task->error) return;  // the first error is the one that counts
  if (task->has_run_in_part()) error.execution_state = ExecutionState::kUnknown;
  // Its segments that are not on the card are refused at once, whatever they wait for.
  if (task->started()) task->unwanted.store(true, std::memory_order_relaxed);
  task->error = std::make_unique<ErrorReply>(std::move(error));
  DoomFrom(*task);
}

void CommandQueue::DoomFrom(const Task& task) {
  ++times_failed;
  if (doomed_from == 0 || task.first_value < doomed_from) doomed_from = task.first_value;
}

bool CommandQueue::Issued(uint64_t value) const {
  if (Ended(value)) return true;
  return issued > 0 && tasks[issued - 1]->last_value >= value;
}

uint64_t CommandQueue::LastWork(uint64_t value) const { return Find(value)->last_work; }

}  // namespace ttfd
