// Posting and taking.
#include "daemon/session/inbox.h"

#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"

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
  posted_.messages.push_back(std::move(message));
  return Wake();
}

bool Inbox::Post(Control control) {
  MutexLock lock(&mu_);
  posted_.controls.push_back(std::move(control));
  return Wake();
}

bool Inbox::Attach(const std::string& token, std::string next, const SessionOutput* connection,
                   absl::FunctionRef<bool()> connect) {
  MutexLock lock(&mu_);
  if (closed_.has_value() || !token_.Accepts(token) || !connect()) return false;
  token_.Replace(token, std::move(next));
  connection_ = connection;
  return true;
}

void Inbox::Open() {
  MutexLock lock(&mu_);
  waits_for_lease_ = false;
}

void Inbox::Close(const Status& status) {
  std::deque<MessageRequest> dropped;  // destroyed after the lock
  MutexLock lock(&mu_);
  if (!closed_.has_value()) closed_ = status;
  dropped.swap(posted_.messages);
}

bool Inbox::empty() const {
  MutexLock lock(&mu_);
  return posted_.messages.empty() && posted_.controls.empty();
}

void Inbox::Take(TakenInput* taken) {
  MutexLock lock(&mu_);
  turn_ = Turn::kTaken;
  if (taken->messages.empty()) {
    taken->messages.swap(posted_.messages);
  } else {
    for (MessageRequest& message : posted_.messages) taken->messages.push_back(std::move(message));
    posted_.messages.clear();
  }
  for (Control& control : posted_.controls) taken->controls.push_back(std::move(control));
  posted_.controls.clear();
}

bool Inbox::BecomeIdle() {
  Turn expected = Turn::kTaken;
  return turn_.compare_exchange_strong(expected, Turn::kIdle);
}

}  // namespace ttfd
