// Order of the commands of one queue.
#include "daemon/session/queue_timeline.h"

#include <algorithm>
#include <utility>

namespace ttfd {

void QueueTimeline::BeginNext(bool waits) {
  ++begun_;
  if (waits) ++waiting_;
}

std::shared_ptr<Operation> QueueTimeline::EndFirst() {
  std::shared_ptr<Operation> first = std::move(operations_.front());
  operations_.pop_front();
  --begun_;
  --passed_;
  if (!first->waits.empty()) --waiting_;
  return first;
}

QueueTimeline::Operations QueueTimeline::TakeAll() {
  begun_ = passed_ = waiting_ = 0;
  return std::exchange(operations_, {});
}

void QueueTimeline::Return(uint64_t value) { passed_ = std::min(passed_, IndexOf(value)); }

void QueueTimeline::Split(size_t index, uint64_t value) {
  Operation& before = *operations_[index];
  auto rest = std::make_shared<Operation>();
  rest->queue = before.queue;
  rest->first_value = value;
  rest->last_value = std::exchange(before.last_value, value - 1);
  rest->start_by = before.start_by;
  rest->stage = before.stage;
  if (index < begun_) ++begun_;
  if (index < passed_) ++passed_;
  operations_.insert(operations_.begin() + static_cast<ptrdiff_t>(index) + 1, std::move(rest));
}

size_t QueueTimeline::IndexOf(uint64_t value) const {
  const auto found =
      std::lower_bound(operations_.begin(), operations_.end(), value,
                       [](const auto& op, uint64_t wanted) { return op->last_value < wanted; });
  return static_cast<size_t>(found - operations_.begin());
}

Operation* QueueTimeline::Find(uint64_t value) const {
  const size_t index = IndexOf(value);
  if (index == operations_.size() || operations_[index]->first_value > value) return nullptr;
  return operations_[index].get();
}

}  // namespace ttfd
