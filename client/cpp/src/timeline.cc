// What a client knows of one queue.
#include "client/cpp/src/timeline.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace ttfd::client {
namespace {

void SetPosition(uint32_t queue, uint64_t value, v1::QueuePosition* position) {
  position->set_queue(queue);
  position->set_value(value);
}

void SetData(uint32_t queue, uint64_t value, uint64_t bytes, v1::DataPosition* position) {
  position->set_queue(queue);
  position->set_value(value);
  position->set_bytes(bytes);
}

}  // namespace

void Timeline::AddError(uint64_t first_value, uint64_t last_value, Status status) {
  Owe(last_value);
  for (ErrorRange& error : errors_) {
    if (error.first_value == first_value) {
      error.last_value = std::max(error.last_value, last_value);
      return;
    }
  }
  if (errors_.size() == kMaxErrors) {
    // The first error explains the others, so the second oldest goes.
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
    if (!read.forgotten && read.received != read.into.size() && Find(at) == nullptr) {
      AddError(
          at, at,
          Status(Code::kDataLoss, "the daemon ended a read of " + std::to_string(read.into.size()) +
                                      " bytes after " + std::to_string(read.received)));
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

Status Timeline::Outcome(uint64_t value) const {
  if (errors_.empty()) {
    return Status();
  }
  if (const ErrorRange* own = Find(value)) {
    return own->status;
  }
  for (const ErrorRange& error : errors_) {
    if (error.first_value > opened_at_ && error.first_value <= value) {
      return error.status;
    }
  }
  return Status();
}

Status Timeline::FirstError() const {
  for (const ErrorRange& error : errors_) {
    if (error.first_value > opened_at_) {
      return error.status;
    }
  }
  return Status();
}

void Timeline::ToldCaller(uint64_t value) {
  for (const ErrorRange& error : errors_) {
    if (error.first_value > opened_at_) {
      if (error.first_value == value) {
        ClearError();
      }
      return;
    }
  }
}

void Timeline::ClearError() {
  uint64_t first = 0;
  for (const ErrorRange& error : errors_) {
    if (error.first_value > opened_at_) {
      first = error.first_value;
      break;
    }
  }
  if (first == 0) {
    return;
  }
  next_header_.clears_error = first;
  // What was sent before the opening ends with that error too: none of it counts from here on.
  opened_at_ = submitted_;
}

bool Timeline::Aborted(uint64_t value) const {
  const ErrorRange* error = errors_.empty() ? nullptr : Find(value);
  return error != nullptr && error->status.code() == Code::kAborted;
}

void Timeline::ExpectRead(uint64_t value, std::span<std::byte> into) {
  reads_[value] = PendingRead{.into = into};
}

void Timeline::ForgetRead(uint64_t value) {
  if (const auto found = reads_.find(value); found != reads_.end()) {
    found->second.forgotten = true;
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
  if (!read.forgotten && !payload.empty()) {
    std::memcpy(read.into.data() + offset, payload.data(), payload.size());
  }
  read.received += payload.size();
  Owe(value);
  *done = read.received;
  *size = read.into.size();
  return true;
}

void Timeline::AddReceipts(uint32_t queue, bool all, v1::ClientMessage* message) {
  if (OwesReceipt(all)) {
    receipted_ = completed_;
    SetPosition(queue, completed_, message->add_received());
  }
  for (auto& [value, read] : reads_) {  // answered in their order
    if (read.received == 0) {
      break;
    }
    if (read.received != read.receipted) {
      read.receipted = read.received;
      SetData(queue, value, read.received, message->add_received_data());
    }
  }
}

void Timeline::AddReceived(uint32_t queue, v1::Resume* resume) {
  receipted_ = completed_;
  if (completed_ > 0) {
    SetPosition(queue, completed_, resume->add_received());
  }
  for (auto& [value, read] : reads_) {
    if (read.received == 0) {
      break;
    }
    read.receipted = read.received;
    SetData(queue, value, read.received, resume->add_received_data());
  }
}

}  // namespace ttfd::client
