// Commands of a queue that fail, end together, or are requeued.
#include "daemon/session/session_queue.h"

#include <utility>

namespace ttfd {

void SessionQueue::MarkFailed(Operation* operation, ErrorReply error) {
  if (operation->error) return;  // the first error is the one that counts
  if (operation->has_run_in_part()) error.execution_state = ExecutionState::kUnknown;
  operation->error = std::make_unique<ErrorReply>(std::move(error));
  MarkFailedFrom(*operation);
}

void SessionQueue::MarkFailedFrom(const Operation& operation) {
  errors.MarkFailing(operation.first_value);
  slices.DropFrom(errors.failing_from());
}

QueueTimeline::Operations SessionQueue::TakeAll() {
  after.clear();
  slices.Clear();
  return timeline.TakeAll();
}

void SessionQueue::Return(const Ticket& ticket, Slice slice) {
  timeline.Return(slice.value());
  slices.Return(ticket, std::move(slice));
}

}  // namespace ttfd
