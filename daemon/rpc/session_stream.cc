// Bytes to a session's input, its output to bytes.
#include "daemon/rpc/session_stream.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/rpc/reply_conversion.h"
#include "daemon/rpc/request_conversion.h"

namespace ttfd {
namespace {

// Data in one message: above 256 KiB nothing is gained, and a message must stay below 4 MiB with errors, prints and a
// last chunk besides.
constexpr uint64_t kOutputBytes = 1 << 20;
// Most messages need no more memory while they are made.
constexpr size_t kOutputBlockBytes = 4096;

StatusOr<MessageScan> Scan(const grpc::ByteBuffer& message, const SessionLimits& limits) {
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return Internal("a message without bytes");
  std::vector<ByteSpan> segments;
  segments.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    segments.emplace_back(reinterpret_cast<const std::byte*>(slice.begin()), slice.size());
  }
  ScanLimits scan_limits{limits.message_bytes, limits.nested_messages};
  scan_limits.queue_entries = uint64_t{2} * limits.queues;
  return ScanMessage(segments, scan_limits);
}

bool HasContent(const v1::ClientMessage& message) {
  return message.open_queues_size() > 0 || message.batches_size() > 0 || message.data_size() > 0 ||
         message.cancels_size() > 0 || message.has_finish() || message.has_leave();
}

// A message to be made, and its bytes.
class Encoder {
 public:
  v1::ServerMessage& message() { return *message_; }
  // SerializePartial cannot fail: the message has no required field and a bounded size.
  grpc::ByteBuffer Encode() const {
    grpc::ByteBuffer bytes;
    bool own = false;
    const grpc::Status status =
        grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::ServerMessage>(*message_, &bytes, &own);
    static_cast<void>(status);
    return bytes;
  }

 private:
  std::array<char, kOutputBlockBytes> block_;
  google::protobuf::Arena arena_{block_.data(), block_.size()};
  v1::ServerMessage* const message_ =
      google::protobuf::Arena::CreateMessage<v1::ServerMessage>(&arena_);
};

}  // namespace

SessionStream::SessionStream(const SessionStreamEnvironment& environment, PeerIdentity peer,
                             SessionOutput* output)
    : environment_(environment), peer_(std::move(peer)), output_(output) {}

// ---- Reading role.

Status SessionStream::Read(grpc::ByteBuffer* message, TimePoint now) {
  ASSIGN_OR_RETURN(const MessageScan scan, Scan(*message, environment_.limits));
  // The window is not charged for a duplicate, so nothing more is done for it.
  if (session_ != nullptr && scan.sequence != 0 &&
      link_->link.Classify(scan.sequence) == Link::Accept::kDuplicate) {
    message->Clear();
    return Accept({}, scan.ack, now, [] {});
  }
  if (input_ == nullptr) input_ = std::make_unique<Input>();
  auto* const parsed = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&input_->arena);
  grpc::ProtoBufferReader reader(message);
  Status status;
  if (!parsed->ParseFromZeroCopyStream(&reader)) {
    status = ToStatus(InvalidError(
        "", "not a ClientMessage: a string is not UTF-8, or packed numbers are cut off"));
  } else if (session_ == nullptr) {
    status = HandleHello(*parsed);
  } else {
    status = AcceptParsed(*parsed, scan, now);
  }
  input_->arena.Reset();  // nothing is kept of a message while the next is waited for
  message->Clear();
  return status;
}

Status SessionStream::HandleHello(const v1::ClientMessage& message) {
  if (!message.has_hello()) {
    return ToStatus(InvalidError("hello", "the first message of a call must have hello"));
  }
  if (HasContent(message) || message.sequence() != 0 || message.ack() != 0) {
    return ToStatus(InvalidError(
        "hello", "hello must be alone in its message; others may follow without waiting"));
  }
  const HelloRequest hello = HelloFromProto(message.hello());
  const SessionLimits& limits = environment_.limits;
  ASSIGN_OR_RETURN(
      session_, environment_.service->Open(peer_, hello, output_,
                                           std::make_shared<SessionLink>(LinkOptions{
                                               limits.unacknowledged_bytes, limits.window_bytes / 4,
                                               environment_.ack_delay})));
  link_ = std::static_pointer_cast<SessionLink>(session_->transport());
  asked_for_lease_ = hello.attach == AttachKind::kLease;
  MutexLock lock(&link_->mu);
  received_ = link_->link.received();
  if (hello.attach != AttachKind::kResume || link_->newest != output_) return OkStatus();
  return link_->link.Resume(message.hello().resume().received());
}

Status SessionStream::Accept(MessageRequest message, uint64_t ack, TimePoint now,
                             absl::FunctionRef<void()> accepted) {
  Link& link = link_->link;
  MutexLock lock(&link_->mu);
  const uint64_t acknowledged = link.acknowledged();
  RETURN_IF_ERROR(link.Acknowledge(ack));
  if (link.acknowledged() != acknowledged) {
    acknowledged_at_ = now;
    if (awaits_ack_) output_->OutputReady();
  }
  return session_->Accept(std::move(message), accepted);
}

Status SessionStream::AcceptParsed(v1::ClientMessage& message, const MessageScan& scan,
                                   TimePoint now) {
  if (message.has_hello()) {
    return ToStatus(
        InvalidError("hello", "a second hello; a call is one connection of one session"));
  }
  Link& link = link_->link;
  const uint64_t sequence = message.sequence();
  if (sequence == 0) {
    if (!HasContent(message)) return Accept({}, message.ack(), now, [] {});
    return ToStatus(InvalidError("sequence", "a message with more than an ack has no sequence"));
  }
  switch (link.Classify(sequence)) {
    case Link::Accept::kNew:
      break;
    case Link::Accept::kDuplicate:
      return Accept({}, message.ack(), now, [] {});
    case Link::Accept::kGap:
      return WithReason(Error(StatusCode::kInvalidArgument,
                              "message {} was not expected, message {} is the next; what is "
                              "between was lost",
                              sequence, link.received() + 1),
                        reason::kSessionLost, "sequence");
  }
  input_finished_ = input_finished_ || message.has_finish() || message.has_leave();
  return Accept(MessageFromProto(message, scan, environment_.limits), message.ack(), now,
                [&] { link.CountAccepted(scan.bytes, now); });
}

// ---- Writing role.

bool SessionStream::Next(TimePoint now, grpc::ByteBuffer* message) {
  MutexLock lock(&link_->mu);
  if (link_->newest != output_) return false;
  if (!welcomed_) return NextWelcome(message);
  more_ = true;
  if (link_->link.Next(message)) return true;  // what connections before this one did not deliver
  return NextOutput(now, message);
}

// Welcome, and notices of a session that waits for its lease before: they are not numbered.
bool SessionStream::NextWelcome(grpc::ByteBuffer* message) {
  Encoder encoder;
  v1::ServerMessage& to = encoder.message();
  SessionOutputBatch batch;
  if (asked_for_lease_) {
    batch = session_->TakeOutput(kOutputBytes);
    if (batch.empty()) return false;
  }
  if (batch.has_welcome || !asked_for_lease_) {
    ToProto(session_->welcome(), to.mutable_welcome());
    to.mutable_welcome()->set_received(received_);
    to.mutable_welcome()->set_lease_token(batch.lease_token);
    welcomed_ = true;
  } else {
    ToProto(&batch, &to);
  }
  *message = encoder.Encode();
  return true;
}

bool SessionStream::NextOutput(TimePoint now, grpc::ByteBuffer* message) {
  Link& link = link_->link;
  if (link.full()) {
    AwaitAck(now);
  } else {
    awaits_ack_ = false;
    SessionOutputBatch batch = session_->TakeOutput(link.OutputLimit(kOutputBytes));
    more_ = !batch.last;
    if (!batch.empty()) {
      Encoder encoder;
      v1::ServerMessage& to = encoder.message();
      const bool numbered = batch.has_content();
      ToProto(&batch, &to);
      to.set_ack(link.TakeAck());
      if (!numbered) {
        *message = encoder.Encode();
        return true;
      }
      to.set_sequence(link.next_sequence());
      link.Keep(encoder.Encode());
      more_ = more_ || link.full();
      return link.Next(message);
    }
  }
  if (link.ack_due() > now) return false;
  more_ = true;  // without an ack there was nothing to write: the end is not checked yet
  Encoder encoder;
  encoder.message().set_ack(link.TakeAck());
  *message = encoder.Encode();
  return true;
}

SessionPort::Ending SessionStream::CheckEnd(TimePoint now, Status* status) {
  bool acknowledged = false;
  {
    MutexLock lock(&link_->mu);
    acknowledged = link_->link.all_acknowledged();
  }
  const SessionPort::Ending ending = session_->CheckEnd(acknowledged, status);
  if (ending != SessionPort::Ending::kUnacknowledged) return ending;
  {
    MutexLock lock(&link_->mu);
    AwaitAck(now);
    if (!link_->link.all_acknowledged()) return ending;
  }
  return session_->CheckEnd(true, status);
}

void SessionStream::AwaitAck(TimePoint now) {
  const uint64_t acknowledged = link_->link.acknowledged();
  if (!awaits_ack_ || acknowledged != ack_waited_from_) {
    ack_wait_since_ = now;
    ack_waited_from_ = acknowledged;
  }
  awaits_ack_ = true;
}

}  // namespace ttfd
