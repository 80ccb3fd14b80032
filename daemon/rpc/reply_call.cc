// The request, then replies one after the other.
#include "daemon/rpc/reply_call.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

namespace ttfd {

MethodHandler ReplyCall::Of(Duration request_timeout, Start start) {
  return [request_timeout, start = std::move(start)](ServerCall& call) {
    std::shared_ptr<ReplyCall> handler(new ReplyCall(call, start));
    handler->WakeAt(call.Now() + request_timeout);
    call.Read();
    return handler;
  };
}

bool ReplyCall::Parse(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* message) {
  grpc::ProtoBufferReader reader(bytes);
  return message->ParseFromZeroCopyStream(&reader);
}

void ReplyCall::WakeAt(TimePoint when) {
  due_ = when;
  call_.WakeAt(when);
}

void ReplyCall::Reply(const google::protobuf::MessageLite& message) {
  if (end_) return;
  bool own = false;
  grpc::ByteBuffer bytes;
  // Cannot fail: no message has a required field, and all are far smaller than 2 GiB.
  const grpc::Status encoded =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(message,
                                                                                     &bytes, &own);
  static_cast<void>(encoded);
  replies_.push_back(std::move(bytes));
  if (!writing_) WriteOrFinish();
}

void ReplyCall::End(const Status& status) {
  if (end_) return;
  end_ = status;
  if (!writing_) WriteOrFinish();
}

void ReplyCall::WriteOrFinish() {
  if (!replies_.empty()) {
    writing_ = true;
    call_.Write(replies_.front());
    replies_.pop_front();
  } else if (end_) {
    call_.Finish(*end_);
  } else if (on_written) {
    on_written();
  }
}

ReplyCall::Poster ReplyCall::poster() {
  return [tasks = call_.tasks(), call = weak_from_this()](std::function<void(ReplyCall&)> then) {
    tasks->Post([call, then = std::move(then)] {
      if (const std::shared_ptr<ReplyCall> live = call.lock()) then(*live);
    });
  };
}

void ReplyCall::OnRead(grpc::ByteBuffer* message) {
  const Start start = std::exchange(start_, nullptr);
  due_ = TimePoint::max();
  if (end_) return;
  if (message == nullptr) return End(InvalidArgument("the call ended before its request"));
  if (message->Length() > kRequestBytes) {
    return End(Error(StatusCode::kResourceExhausted, "the request has {} bytes, {} are allowed",
                     message->Length(), kRequestBytes));
  }
  start(*this, message);
  message->Clear();
}

void ReplyCall::OnWritten(bool ok) {
  writing_ = false;
  if (ok) WriteOrFinish();
}

// With a lost call OnCancelled comes, too, whichever is first.
void ReplyCall::OnCancelled() {
  if (end_) return;
  if (on_gone) on_gone();
  replies_.clear();
  End(Error(StatusCode::kCancelled, "the client has gone or has cancelled the call"));
}

void ReplyCall::OnDue(TimePoint now) {
  if (end_) return;
  if (now < due_) return call_.WakeAt(due_);  // an earlier time was replaced
  due_ = TimePoint::max();
  if (start_ != nullptr) {
    End(Error(StatusCode::kDeadlineExceeded, "no request within the time for the first message"));
  } else if (on_due) {
    on_due();
  }
}

}  // namespace ttfd
