// The timeline of one queue.
#include "daemon/session/session_queue.h"

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

Operation* SessionQueue::Find(uint64_t value) const {
  const auto found = std::lower_bound(
      operations.begin(), operations.end(), value,
      [](const auto& known, uint64_t wanted) { return known->last_value < wanted; });
  return found != operations.end() && (*found)->first_value <= value ? found->get() : nullptr;
}

void SessionQueue::MarkFailed(Operation* operation, ErrorReply error) {
  if (operation->error) return;  // the first error is the one that counts
  if (operation->has_run_in_part()) error.execution_state = ExecutionState::kUnknown;
  operation->error = std::make_unique<ErrorReply>(std::move(error));
  MarkFailedFrom(*operation);
}

void SessionQueue::MarkFailedFrom(const Operation& operation) {
  ++times_failed;
  if (failing_from == 0 || operation.first_value < failing_from)
    failing_from = operation.first_value;
  slices.DropFrom(failing_from);
}

bool SessionQueue::Begun(uint64_t value) const {
  return Ended(value) || (begun > 0 && operations[begun - 1]->last_value >= value);
}

bool SessionQueue::EndsWithin(uint64_t value, Duration most) const {
  if (Ended(value)) return true;
  const bool given = passed > 0 && operations[passed - 1]->last_value >= value;
  return given && slices.EndsWithin(value, most);
}

void SessionQueue::Clear() {
  begun = passed = waiting = 0;
  after.clear();
  slices.Clear();
}

void SessionQueue::Return(const Ticket& ticket, Slice slice) {
  const auto found = std::lower_bound(
      operations.begin(), operations.end(), slice.value(),
      [](const auto& known, uint64_t wanted) { return known->last_value < wanted; });
  passed = std::min(passed, static_cast<size_t>(found - operations.begin()));
  slices.Return(ticket, std::move(slice));
}

}  // namespace ttfd
