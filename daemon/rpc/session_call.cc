// The two roles of a session call; see the header.
#include "daemon/rpc/session_call.h"

#include <utility>

#include "daemon/rpc/call_status.h"
#include "daemon/rpc/reply_conversion.h"
#include "daemon/rpc/request_conversion.h"
#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

// Data in one message: above 256 KiB nothing is gained, and a message must stay under 4 MiB with
// errors and a last chunk on top.
constexpr uint64_t kOutputBytes = 1 << 20;
constexpr size_t kErrorBytes = 1 << 20;

// For the end of a session to reach a client that is only slow.
constexpr auto kGraceAfterEnd = std::chrono::seconds(2);

// For the loss of a connection to be told, where it must be told from a half-close.
constexpr auto kTimeToBeLost = std::chrono::seconds(1);

int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

SessionCall* SessionCall::Start(const SessionCallEnvironment& environment,
                                grpc::CallbackServerContext* context, StatusOr<PeerIdentity> peer) {
  std::shared_ptr<SessionCall> call(new SessionCall(environment, context));
  MutexLock lock(&call->mu_);
  call->self_ = call;
  call->waits_since_ = environment.deadlines->Now();
  if (!peer.ok()) {
    call->input_ = Input::kEnded;
    call->FinishLocked(peer.status());
    return call.get();
  }
  call->peer_ = *std::move(peer);
  environment.deadlines->Add(call);
  call->StartNextRead();
  return call.get();
}

SessionCall::SessionCall(const SessionCallEnvironment& environment,
                         grpc::CallbackServerContext* context)
    : environment_(environment), context_(context) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block_.data();
  options.initial_block_size = block_.size();
  arena_ = std::make_unique<google::protobuf::Arena>(options);
}

// ---- input role

void SessionCall::StartNextRead() {
  arena_->Reset();
  message_ = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(arena_.get());
  input_ = Input::kReading;
  StartRead(message_);
}

// gRPC calls OnDone only after every other reaction has returned, so the call outlives them.
void SessionCall::OnReadDone(bool ok) {
  bool open = false;
  {
    MutexLock lock(&mu_);
    open = open_;
    input_ = ok && !finished_ ? Input::kProcessing : Input::kEnded;
    if (finished_) return;
  }
  if (!ok) {
    if (!open) {
      FinishWith(InvalidArgument("the call ended before its first message, which must have Hello"));
      return;
    }
    HalfClosed();
    return;
  }
  Status status = CheckSize(*message_);
  if (status.ok()) status = Handle(*message_);
  if (!status.ok()) {
    Refuse(status);
    MutexLock lock(&mu_);
    input_ = Input::kEnded;
    return;
  }
  ContinueInput();
}

// A lost connection looks the same here, and OnCancel follows; then Abandon drops the work. A resumable
// session must not be taken for finished: there the connection is given time to be lost.
void SessionCall::HalfClosed() {
  if (session_->resumable()) {
    MutexLock lock(&mu_);
    half_closed_at_ = environment_.deadlines->Now();
    return;
  }
  session_->FinishInput();
  OutputReady();
}

Status SessionCall::CheckSize(const v1::ClientMessage& message) const {
  const uint64_t most = environment_.limits.message_bytes;
  const uint64_t bytes = message.ByteSizeLong();
  if (bytes <= most) return OkStatus();
  return ToStatus(LimitError("", "message_bytes", most, bytes, "a message over the limit"));
}

Status SessionCall::Handle(v1::ClientMessage& message) {
  if (message.has_hello()) {
    if (session_ != nullptr) return InvalidArgument("a second Hello: one call is one session");
    RETURN_IF_ERROR(OpenSession(message.hello()));
    // What came with Hello is handled when the session has its lease.
    rest_waits_ = session_->waiting();
    if (rest_waits_) return OkStatus();
  }
  if (session_ == nullptr) return InvalidArgument("the first message of a call must have Hello");
  return HandleRest(message);
}

Status SessionCall::HandleRest(v1::ClientMessage& message) {
  for (v1::Batch& batch : *message.mutable_batches()) {
    RETURN_IF_ERROR(session_->Submit(BatchFromProto(batch, environment_.limits)));
  }
  for (v1::Data& data : *message.mutable_data()) {
    RETURN_IF_ERROR(session_->Supply(DataFromProto(data)));
  }
  for (const v1::Cancel& cancel : message.cancels()) {
    RETURN_IF_ERROR(session_->Cancel({{cancel.queue(), cancel.from_value()}, cancel.sent_value()}));
  }
  if (message.received_size() > 0 || message.received_data_size() > 0) {
    RETURN_IF_ERROR(
        session_->Received(ReceivedFromProto(message.received(), message.received_data())));
  }
  switch (EndingFromProto(message.ending())) {
    case EndingKind::kNone:
      break;
    case EndingKind::kFinish:
      session_->FinishInput(/*half_closed=*/false);
      OutputReady();
      break;
    case EndingKind::kLeave:
      session_->Leave();
      break;
    case EndingKind::kUnknown:
      return WithReason(Error(StatusCode::kUnimplemented, "an ending this daemon does not know"),
                        reason::kUnsupported, "ending");
  }
  return OkStatus();
}

Status SessionCall::OpenSession(const v1::Hello& hello) {
  ASSIGN_OR_RETURN(session_, environment_.service->Open(peer_, HelloFromProto(hello), this));
  if (hello.has_lease()) {  // its welcome comes as output
    {
      MutexLock lock(&mu_);
      open_ = true;
      waits_for_client_ = false;
    }
    OutputReady();  // for what was said before the call was open
    return OkStatus();
  }
  MutexLock lock(&mu_);
  open_ = true;
  waits_for_client_ = false;
  if (finished_) return OkStatus();
  // The output role cannot be taken yet: Pump leaves a call alone that is not open.
  writing_ = true;
  ToProto(session_->welcome(), out_.mutable_welcome());
  waits_for_client_ = true;
  waits_since_ = environment_.deadlines->Now();
  StartWrite(&out_);
  return OkStatus();
}

void SessionCall::ContinueInput() {
  while (true) {
    const bool wanted = session_->WantsInput();
    if (wanted && std::exchange(rest_waits_, false)) {
      if (const Status status = HandleRest(*message_); !status.ok()) Refuse(status);
      continue;
    }
    MutexLock lock(&mu_);
    if (finished_) {
      input_ = Input::kEnded;
      break;
    }
    if (wanted) {
      StartNextRead();
      return;
    }
    if (!std::exchange(input_again_, false)) {
      input_ = Input::kPaused;
      return;
    }
  }
  ReleaseIfLast();
}

// ---- output role

void SessionCall::OutputReady() { environment_.replies->Schedule(shared_from_this()); }

void SessionCall::Pump() { PumpRoles(/*input=*/true); }

// The round thread is the device thread: what a client sends is not for it to decode.
bool SessionCall::PumpOutput() { return PumpRoles(/*input=*/false); }

bool SessionCall::PumpRoles(bool input) {
  bool take_input = false;
  bool take_output = false;
  bool input_waits = false;
  {
    MutexLock lock(&mu_);
    if (!open_ || finished_) return false;
    if (input_ == Input::kPaused) {
      input_waits = !input;
      take_input = input;
      if (take_input) input_ = Input::kProcessing;
    } else if (input_ == Input::kProcessing) {
      input_again_ = true;
    }
    take_output = !writing_;
    writing_ = true;
    output_again_ = !take_output;
  }
  if (take_output) WriteOutput();
  if (take_input) ContinueInput();
  return input_waits;
}

void SessionCall::OnWriteDone(bool ok) {
  {
    // The first write was started by the input role: through mu_ this thread sees what that role has set.
    MutexLock lock(&mu_);
    writing_ = ok;
    if (!ok) return;  // the call is lost; OnDone follows
  }
  // Cleared messages keep their payload's memory; an idle session is to hold none.
  if (out_.data_size() > 0 || out_.notices_size() > 0) v1::ServerMessage().Swap(&out_);
  WriteOutput();
}

void SessionCall::WriteOutput() {
  while (true) {
    const bool any = TakeNextMessage();
    Status end;
    const bool ended = !any && session_->finished(&end);
    MutexLock lock(&mu_);
    waits_for_client_ = false;
    if (finished_) {
      writing_ = false;
      break;
    }
    if (any) {
      waits_for_client_ = true;
      waits_since_ = environment_.deadlines->Now();
      StartWrite(&out_);
      return;
    }
    if (ended) {
      writing_ = false;
      session_ended_ = true;
      FinishLocked(end);
      return;
    }
    if (!std::exchange(output_again_, false)) {
      writing_ = false;
      return;
    }
  }
  ReleaseIfLast();
}

bool SessionCall::TakeNextMessage() {
  if (batch_.empty()) batch_ = session_->TakeOutput(kOutputBytes);
  if (batch_.empty()) return false;
  out_.Clear();
  if (batch_.has_welcome) ToProto(session_->welcome(), out_.mutable_welcome());
  TakeMessage(&batch_, kErrorBytes, &out_);
  return true;
}

// ---- the end

void SessionCall::CheckDeadlines(TimePoint now) {
  TimePoint since;
  Duration waited{};
  bool half_closed = false;
  {
    MutexLock lock(&mu_);
    half_closed = half_closed_at_ && !finished_ && now - *half_closed_at_ >= kTimeToBeLost;
    if (half_closed) half_closed_at_.reset();
  }
  if (half_closed) {
    session_->FinishInput();
    OutputReady();
  }
  {
    MutexLock lock(&mu_);
    if (!waits_for_client_ || finished_) return;
    since = waits_since_;
    waited = now - since;
    if (!open_) {
      if (waited < environment_.hello_timeout) return;
      FinishLocked(Error(StatusCode::kDeadlineExceeded, "no Hello within {} ms of the call's start",
                         Milliseconds(environment_.hello_timeout)));
      return;
    }
  }
  if (!IsStalled(waited)) return;
  MutexLock lock(&mu_);
  // Not Finish: a status would wait behind the write that nobody reads. A client that has caught up
  // meanwhile waits for another write, since another time.
  if (waits_for_client_ && waits_since_ == since && !finished_) context_->TryCancel();
}

bool SessionCall::IsStalled(Duration waited) {
  // A session that the daemon has ended is not kept for a client that does not read.
  Status end;
  if (waited >= kGraceAfterEnd && session_->finished(&end) && !end.ok()) return true;
  auto timeouts = environment_.service->GetTimeouts(session_->welcome().session);
  if (!timeouts.ok()) timeouts = environment_.service->GetTimeouts(0);  // it has been released
  return timeouts.ok() && waited >= std::chrono::milliseconds(timeouts->stalled_client_ms);
}

// For a protocol error: the session ends with the call.
void SessionCall::Refuse(const Status& status) {
  MutexLock lock(&mu_);
  refused_ = true;
  FinishLocked(status);
}

void SessionCall::FinishWith(const Status& status) {
  MutexLock lock(&mu_);
  FinishLocked(status);
}

void SessionCall::FinishLocked(const Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(FinishStatus(status, context_));
}

void SessionCall::OnCancel() {
  FinishWith(Error(StatusCode::kCancelled, "the client has gone or has cancelled the call"));
}

void SessionCall::OnDone() {
  {
    MutexLock lock(&mu_);
    done_ = true;
  }
  environment_.deadlines->Remove(this);
  ReleaseIfLast();
}

// gRPC may be done while a thread still holds a role: the last one out gives the session back.
void SessionCall::ReleaseIfLast() {
  std::shared_ptr<SessionCall> self;  // dies after the lock
  bool abandon = false;
  bool lost = false;
  {
    MutexLock lock(&mu_);
    if (!done_ || writing_ || input_ == Input::kProcessing) return;
    self = std::exchange(self_, nullptr);
    if (self == nullptr) return;
    abandon = session_ != nullptr && !session_ended_;
    lost = !refused_;
  }
  if (abandon) session_->Abandon(lost);
}

}  // namespace ttfd
