// Operations of a call at gRPC.
#include "daemon/rpc/server_call.h"

#include <algorithm>
#include <utility>

#include "daemon/rpc/call_status.h"
#include "daemon/rpc/poller.h"

namespace ttfd {

// gRPC gets done_ before the call starts, and reports it for calls that have started only.
ServerCall::ServerCall(Poller& poller) : poller_(poller) {
  context_.AsyncNotifyWhenDone(static_cast<CompletionTag*>(&done_));
  grpc::ServerCompletionQueue* const queue = poller_.queue_.get();
  poller_.service_.RequestCall(&context_, &stream_, queue, queue, Begin(&start_));
}

const std::shared_ptr<PollerTasks>& ServerCall::tasks() const { return poller_.tasks(); }

TimePoint ServerCall::Now() const { return poller_.clock_.Now(); }

bool ServerCall::OnPollerThread() const { return poller_.IsThisThread(); }

void ServerCall::Read() { stream_.Read(&in_, Begin(&read_)); }

void ServerCall::Write(const grpc::ByteBuffer& message) { stream_.Write(message, Begin(&write_)); }

void ServerCall::Finish(const Status& status) { stream_.Finish(ToGrpc(status), Begin(&finish_)); }

void ServerCall::WakeAt(TimePoint when) {
  due_ = std::min(due_, when);
  poller_.next_due_ = std::min(poller_.next_due_, std::max(when, poller_.next_round_));
}

CompletionTag* ServerCall::Begin(Operation* operation) {
  ++under_way_;
  return operation;
}

void ServerCall::Complete(void (ServerCall::*on_complete)(bool ok), bool ok) {
  (this->*on_complete)(ok);
  if (--under_way_ != 0) return;
  if (handler_ != nullptr) handler_->OnEnd();
  poller_.calls_.erase(this);
}

void ServerCall::OnStarted(bool ok) {
  if (!ok) return;  // the server is shut down
  Begin(&done_);
  poller_.AwaitClient();
  handler_ = poller_.Handle(*this);
}

void ServerCall::OnReadDone(bool ok) { handler_->OnRead(ok ? &in_ : nullptr); }

void ServerCall::OnCallDone(bool) {
  if (handler_ != nullptr && context_.IsCancelled()) handler_->OnCancelled();
}

}  // namespace ttfd
