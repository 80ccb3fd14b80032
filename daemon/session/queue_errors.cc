// Errors of one queue.
#include "daemon/session/queue_errors.h"

#include <algorithm>

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

void QueueErrors::MarkFailing(uint64_t from) {
  ++times_;
  if (failing_from_ == 0 || from < failing_from_) failing_from_ = from;
}

void QueueErrors::Fail(uint64_t first, uint64_t last, QueuePosition cause) {
  cause_ = cause;
  history_.Add(first, last, cause);
  ++times_;
  failed_value_ = first;
  failing_from_ = 0;
}

}  // namespace ttfd
