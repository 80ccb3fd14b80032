// Posting and taking.
#include "daemon/session/inbox.h"

#include <utility>

#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"

namespace ttfd {

StatusOr<bool> Inbox::Post(const SessionOutput* from, MessageRequest message,
                           absl::FunctionRef<void()> accepted) {
  MutexLock lock(&mu_);
  if (from != connection_) return SessionReplaced();
  if (closed_.has_value()) RETURN_IF_ERROR(*closed_);
  if (waits_for_lease_) {
    return ToStatus(InvalidError("", "a message while the session waits for its lease"));
  }
  if (finished_ && message.has_input()) {
    return ToStatus(InvalidError("batches", "queues, commands or data after Finish"));
  }
  if (closed_.has_value()) return false;  // an ack or a Leave may cross the end
  RETURN_IF_ERROR(window_.Charge(message.cost));
  token_.ConfirmNewest();
  finished_ = finished_ || message.finish;
  accepted();
  if (message.empty()) return false;
  input_.emplace_back(std::move(message));
  return WakeLocked();
}

bool Inbox::Post(Task* task) {
  MutexLock lock(&mu_);
  input_.emplace_back(task);
  return WakeLocked();
}

bool Inbox::Wake() {
  MutexLock lock(&mu_);
  return WakeLocked();
}

bool Inbox::WakeLocked() { return !std::exchange(with_device_thread_, true); }

bool Inbox::Attach(const std::string& token, std::string next, const SessionOutput* connection) {
  MutexLock lock(&mu_);
  if (closed_.has_value() || !token_.Accepts(token)) return false;
  token_.Replace(token, std::move(next));
  connection_ = connection;
  return true;
}

void Inbox::Open() {
  MutexLock lock(&mu_);
  waits_for_lease_ = false;
}

void Inbox::Close(const Status& status) {
  std::deque<Input> dropped;  // destroyed after the lock
  MutexLock lock(&mu_);
  if (!closed_.has_value()) closed_ = status;
  for (Input& input : std::exchange(input_, {})) {
    (std::holds_alternative<MessageRequest>(input) ? dropped : input_).push_back(std::move(input));
  }
}

bool Inbox::empty() const {
  MutexLock lock(&mu_);
  return input_.empty();
}

std::optional<Input> Inbox::Take() {
  MutexLock lock(&mu_);
  if (input_.empty()) {
    with_device_thread_ = false;
    return std::nullopt;
  }
  std::optional<Input> input(std::move(input_.front()));
  input_.pop_front();
  return input;
}

}  // namespace ttfd
