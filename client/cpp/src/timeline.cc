// A client's state of one queue.
#include "client/cpp/src/timeline.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace ttfd::client {

void Timeline::AddError(uint64_t first_value, uint64_t last_value, Status status) {
  if (first_value == 0) {
    open_error_ = std::move(status);
    return;
  }
  if (errors_.size() == kMaxErrors) {
    errors_.erase(errors_.begin() + 1);
  }
  errors_.push_back({first_value, std::max(first_value, last_value), std::move(status)});
}

bool Timeline::Advance(uint64_t value) {
  if (value <= completed_) {
    return false;
  }
  completed_ = value;
  while (!reads_.empty() && reads_.begin()->first <= value) {
    const auto& [at, read] = *reads_.begin();
    if (!read.abandoned && read.received != read.into.size() && Find(at) == nullptr) {
      AddError(at, at,
               Status(Code::kDataLoss, "the daemon has completed a read of " +
                                           std::to_string(read.into.size()) + " bytes after " +
                                           std::to_string(read.received)));
    }
    reads_.erase(reads_.begin());
  }
  return true;
}

const Timeline::ErrorRange* Timeline::Find(uint64_t value) const {
  const auto found = std::find_if(errors_.begin(), errors_.end(), [value](const ErrorRange& e) {
    return e.first_value <= value && value <= e.last_value;
  });
  return found == errors_.end() ? nullptr : &*found;
}

const Timeline::ErrorRange* Timeline::FindFirst() const {
  const auto found = std::find_if(errors_.begin(), errors_.end(), [this](const ErrorRange& e) {
    return e.first_value > cleared_through_;
  });
  return found == errors_.end() ? nullptr : &*found;
}

Status Timeline::Outcome(uint64_t value) const {
  if (!open_error_.ok()) {
    return open_error_;
  }
  if (const ErrorRange* own = Find(value)) {
    return own->status;
  }
  const ErrorRange* first = FindFirst();
  return first != nullptr && first->first_value <= value ? first->status : Status();
}

Status Timeline::FirstError() const {
  const ErrorRange* first = FindFirst();
  return !open_error_.ok() || first == nullptr ? open_error_ : first->status;
}

void Timeline::ClearError() {
  const ErrorRange* first = FindFirst();
  if (!open_error_.ok() || first == nullptr) {
    return;
  }
  next_header_.clears_error = first->first_value;
  // Commands sent before the opening end with that error too; none of these errors count afterwards.
  cleared_through_ = submitted_;
}

void Timeline::ClearErrorOf(uint64_t value) {
  const ErrorRange* first = FindFirst();
  if (first != nullptr && first->first_value == value) {
    ClearError();
  }
}

void Timeline::Reopen() {
  open_error_ = Status();
  cleared_through_ = submitted_;
  next_header_ = BatchHeader();
}

bool Timeline::Aborted(uint64_t value) const {
  const ErrorRange* error = Find(value);
  return error != nullptr && error->status.code() == Code::kAborted;
}

void Timeline::ExpectRead(uint64_t value, std::span<std::byte> into) {
  reads_[value] = PendingRead{.into = into};
}

void Timeline::AbandonRead(uint64_t value) {
  if (const auto found = reads_.find(value); found != reads_.end()) {
    found->second.abandoned = true;
  }
}

bool Timeline::AcceptData(uint64_t value, uint64_t offset, std::span<const std::byte> payload,
                          uint64_t* done, uint64_t* size) {
  const auto found = reads_.find(value);
  if (found == reads_.end()) {
    return false;
  }
  PendingRead& read = found->second;
  if (offset != read.received || payload.size() > read.into.size() - read.received) {
    return false;
  }
  if (!read.abandoned && !payload.empty()) {
    std::memcpy(read.into.data() + offset, payload.data(), payload.size());
  }
  read.received += payload.size();
  *done = read.received;
  *size = read.into.size();
  return true;
}

}  // namespace ttfd::client
