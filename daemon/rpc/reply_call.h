// A call with one request and any number of replies: every method but Session and server reflection.
#pragma once

#include <google/protobuf/message_lite.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/rpc/poller.h"
#include "daemon/rpc/server_call.h"
#include "runtime/base/status.h"

namespace ttfd {

// Poller thread, but for what poster() returns. A method keeps what it needs for the call in the functions it sets.
class ReplyCall final : public CallHandler, public std::enable_shared_from_this<ReplyCall> {
 public:
  // Most bytes of an encoded request, so that the poller thread parses little for one.
  static constexpr size_t kRequestBytes = 64 << 10;

  // The handler of a method: `start` gets the parsed request. A call without a request, or with one that is none,
  // ends with INVALID_ARGUMENT; with one of more than kRequestBytes, with RESOURCE_EXHAUSTED; one whose request does
  // not come in time, with DEADLINE_EXCEEDED.
  template <typename Request>
  static MethodHandler Method(Duration request_timeout,
                              std::function<void(ReplyCall& call, const Request& request)> start) {
    return Of(request_timeout, [start](ReplyCall& call, grpc::ByteBuffer* bytes) {
      Request request;
      if (Parse(bytes, &request)) {
        start(call, request);
      } else {
        call.End(InvalidArgument("the request is not a {}", request.GetTypeName()));
      }
    });
  }

  const grpc::GenericServerContext& context() const { return call_.context(); }
  TimePoint Now() const { return call_.Now(); }

  // Sends the reply behind those before. Nothing after End.
  void Reply(const google::protobuf::MessageLite& message);
  // Ends the call behind its replies; only the first time counts.
  void End(const Status& status);
  // Calls on_due at this time, or up to Poller::kRound later. Replaces a time that was set before.
  void WakeAt(TimePoint when);

  // For other threads, also after the call has ended: `then` runs on the poller thread if it has not.
  using Poster = std::function<void(std::function<void(ReplyCall&)> then)>;
  Poster poster();

  // Called until the call has ended; null: nothing is called. They may hold the call by reference, not by shared_ptr.
  std::function<void()> on_written;  // all replies are on their way: the next may be made
  std::function<void()> on_due;
  std::function<void()> on_gone;  // the client has cancelled the call or is gone: the last

  void OnRead(grpc::ByteBuffer* message) override;
  void OnWritten(bool ok) override;
  void OnCancelled() override;
  void OnDue(TimePoint now) override;
  void OnEnd() override {}

 private:
  // Called with the encoded request.
  using Start = std::function<void(ReplyCall& call, grpc::ByteBuffer* request)>;

  ReplyCall(ServerCall& call, Start start) : call_(call), start_(std::move(start)) {}
  static MethodHandler Of(Duration request_timeout, Start start);
  static bool Parse(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* message);
  void WriteOrFinish();

  ServerCall& call_;
  Start start_;  // null: it was called
  TimePoint due_ = TimePoint::max();
  std::deque<grpc::ByteBuffer> replies_;  // not written
  std::optional<Status> end_;
  bool writing_ = false;
};

}  // namespace ttfd
