// A call of a client, of any method, between gRPC and the handler of its method.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <memory>

#include "daemon/rpc/poller_tasks.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace ttfd {

class Poller;

// Called by the poller when gRPC has completed an operation that was started with its address as tag.
class CompletionTag {
 public:
  virtual void Complete(bool ok) = 0;

 protected:
  ~CompletionTag() = default;
};

// Handles one call of a method. The poller thread calls it, and destroys it after OnEnd, unless others share it.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // The message that ServerCall::Read asked for. Null: the client sends no more, or is gone.
  virtual void OnRead(grpc::ByteBuffer* message) = 0;
  // The message of ServerCall::Write is on its way: the next may be written. Not `ok`: the call is lost.
  virtual void OnWritten(bool ok) = 0;
  // The client has cancelled the call or is gone. At most once. Nothing has to be done for the call itself.
  virtual void OnCancelled() = 0;
  // The time that was given to ServerCall::WakeAt has come.
  virtual void OnDue(TimePoint now) = 0;
  // gRPC is done with the call, which ends its life when this returns. The last, once.
  virtual void OnEnd() = 0;
};

// Owned by the poller. Poller thread, but for what says otherwise.
class ServerCall {
 public:
  explicit ServerCall(Poller& poller);
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  const grpc::GenericServerContext& context() const { return context_; }
  // For other threads to hand work to the poller thread.
  const std::shared_ptr<PollerTasks>& tasks() const;
  TimePoint Now() const;
  // The calling thread is the poller thread. Any thread.
  bool OnPollerThread() const;

  // OnRead follows. One at a time, and none after Finish.
  void Read();
  // OnWritten follows, also after Finish. One at a time, and none after Finish. Any thread, if the handler
  // excludes Finish and OnEnd meanwhile.
  void Write(const grpc::ByteBuffer& message);
  // Ends the call behind the message that is being written. Once.
  void Finish(const Status& status);
  // Ends the call at once, as if the client had. Any thread, until OnEnd has returned.
  void Cancel() { context_.TryCancel(); }
  // OnDue is called then, or up to Poller::kRound later. Of several times the earliest counts.
  void WakeAt(TimePoint when);

 private:
  friend class Poller;

  struct Operation final : CompletionTag {
    Operation(ServerCall* of, void (ServerCall::*then)(bool ok)) : call(of), on_complete(then) {}
    void Complete(bool ok) override { call->Complete(on_complete, ok); }
    ServerCall* const call;
    void (ServerCall::*const on_complete)(bool ok);
  };

  // To be given to gRPC. Counts the operation.
  CompletionTag* Begin(Operation* operation);
  // The call ends with its last operation.
  void Complete(void (ServerCall::*on_complete)(bool ok), bool ok);

  void OnStarted(bool ok);
  void OnReadDone(bool ok);
  void OnWriteDone(bool ok) { handler_->OnWritten(ok); }
  void OnFinishDone(bool) {}
  void OnCallDone(bool);

  Poller& poller_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  std::shared_ptr<CallHandler> handler_;  // null: no client has called
  grpc::ByteBuffer in_;
  TimePoint due_ = TimePoint::max();
  std::atomic<int> under_way_{0};  // operations
  Operation start_{this, &ServerCall::OnStarted};
  Operation read_{this, &ServerCall::OnReadDone};
  Operation write_{this, &ServerCall::OnWriteDone};
  Operation finish_{this, &ServerCall::OnFinishDone};
  Operation done_{this, &ServerCall::OnCallDone};
};

}  // namespace ttfd
