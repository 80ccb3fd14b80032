// The Session stream over gRPC's completion-queue API. The caller's own thread drives it, so that a
// blocking call costs no wake-up of another thread.
#include "client/cpp/src/stream.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <utility>

#include "client/cpp/src/grpc_status.h"

namespace ttfd::client {
namespace {

// Messages are encoded here and not by a generated stub, so that they can be kept without a copy.
constexpr char kMethod[] = "/ttfd.v1.DeviceService/Session";

// Tags: which operation of the call has ended.
enum Tag : intptr_t { kStart = 1, kRead, kWrite, kFinish };
void* ToTag(Tag tag) { return reinterpret_cast<void*>(static_cast<intptr_t>(tag)); }

gpr_timespec ToGrpc(std::chrono::steady_clock::time_point deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_micros(std::max<int64_t>(us, 0), GPR_TIMESPAN));
}

}  // namespace

// `cq` outlives the call; the context outlives the reader-writer.
struct Stream::Call {
  std::string address;
  Status problem;  // why the channel cannot work
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<grpc::GenericStub> stub;
  grpc::CompletionQueue cq;
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw;
  grpc::ByteBuffer received;
  size_t received_bytes = 0;
  grpc::Status final_status;
};

Stream::Stream(const std::string& address, const TlsOptions& tls)
    : call_(std::make_unique<Call>()) {
  call_->address = address;
  call_->channel = MakeChannel(address, tls, &call_->problem);
  call_->stub = std::make_unique<grpc::GenericStub>(call_->channel);
  call_->rw = call_->stub->PrepareCall(&call_->context, kMethod, &call_->cq);
  call_->rw->StartCall(ToTag(kStart));
}

Stream::~Stream() {
  call_->context.TryCancel();
  call_->cq.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (call_->cq.Next(&tag, &ok)) {
  }
}

Stream::Event Stream::Next(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(read_due_, false)) {
    call_->rw->Read(&call_->received, ToTag(kRead));
  }
  for (;;) {
    void* raw = nullptr;
    bool ok = false;
    const grpc::CompletionQueue::NextStatus next = call_->cq.AsyncNext(&raw, &ok, ToGrpc(deadline));
    if (next != grpc::CompletionQueue::GOT_EVENT) {
      return Event::kTimeout;
    }
    switch (static_cast<Tag>(reinterpret_cast<intptr_t>(raw))) {
      case kStart:
        if (ok) {
          return Event::kStarted;
        }
        call_->rw->Finish(&call_->final_status, ToTag(kFinish));
        break;
      case kRead:
        if (ok && Decode()) {
          return Event::kRead;
        }
        call_->rw->Finish(&call_->final_status, ToTag(kFinish));
        break;
      case kWrite:
        return ok ? Event::kWrote : Event::kNotTaken;
      case kFinish:
        status_ =
            !call_->problem.ok() ? call_->problem : FromGrpc(call_->final_status, call_->address);
        return Event::kEnded;
    }
  }
}

// False: the bytes are no ServerMessage; what answers is not a daemon of this API.
bool Stream::Decode() {
  call_->received_bytes = call_->received.Length();  // Deserialize empties it
  const grpc::Status status =
      grpc::SerializationTraits<v1::ServerMessage>::Deserialize(&call_->received, &received_);
  if (!status.ok()) {
    call_->problem = Status(Code::kInternal, "a message of the daemon cannot be decoded");
    call_->context.TryCancel();
  }
  return status.ok();
}

size_t Stream::received_bytes() const { return call_->received_bytes; }

Stream::Encoded Stream::Encode(const v1::ClientMessage& message) {
  auto buffer = std::make_shared<grpc::ByteBuffer>();
  bool own_buffer = false;
  // Cannot fail: the message is far below the 2 GiB that protobuf allows.
  static_cast<void>(
      grpc::SerializationTraits<v1::ClientMessage>::Serialize(message, buffer.get(), &own_buffer));
  const size_t bytes = buffer->Length();
  return {std::move(buffer), bytes};
}

void Stream::StartWrite(const Encoded& message) {
  call_->rw->Write(*message.buffer, ToTag(kWrite));
}

void Stream::Cancel() { call_->context.TryCancel(); }

}  // namespace ttfd::client
