// The two roles of a session call; see the header.
#include "daemon/rpc/session_call.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/rpc/call_status.h"

namespace ttfd {
namespace {

// For the end of a session to reach a client that is only slow.
constexpr auto kTimeAfterEnd = std::chrono::seconds(2);

Status Lost() {
  return WithReason(
      Error(StatusCode::kCancelled,
            "the stream has ended without Finish or Leave, or before its results were "
            "acknowledged: the connection is lost"),
      reason::kCancelled);
}

}  // namespace

SessionCall* SessionCall::Start(const SessionCallEnvironment& environment,
                                grpc::CallbackServerContext* context, StatusOr<PeerIdentity> peer) {
  std::shared_ptr<SessionCall> call(
      new SessionCall(environment, context, peer.ok() ? *peer : PeerIdentity()));
  MutexLock lock(&call->mu_);
  call->self_ = call;
  call->waits_since_ = call->Now();
  if (!peer.ok()) {
    call->input_ = Input::kEnded;
    call->FinishLocked(peer.status(), Outcome::kLost);
    return call.get();
  }
  environment.deadlines->Add(call);
  call->StartNextRead();
  return call.get();
}

SessionCall::SessionCall(const SessionCallEnvironment& environment,
                         grpc::CallbackServerContext* context, PeerIdentity peer)
    : environment_(environment),
      context_(context),
      stream_(environment.stream, std::move(peer), this) {}

// ---- Reading role.

void SessionCall::StartNextRead() {
  input_ = Input::kReading;
  StartRead(&in_);
}

// gRPC calls OnDone only after every other reaction has returned, so the call outlives them.
void SessionCall::OnReadDone(bool ok) {
  bool open = false;
  {
    MutexLock lock(&mu_);
    open = open_;
    input_ = ok && !finished() ? Input::kProcessing : Input::kEnded;
    if (finished()) return;
  }
  if (!ok) return StreamEnded(open);
  const Status status = stream_.Read(&in_, Now());
  if (!status.ok()) {
    FinishWith(status, Outcome::kRefused);
    if (stream_.open()) stream_.Abandon(/*lost=*/false);  // now: the status may wait behind a write
    MutexLock lock(&mu_);
    input_ = Input::kEnded;
    return;
  }
  ReadOn(open);
}

// After Finish a client has nothing more to say, if it cannot resume. Else the connection is lost, though gRPC may
// still write to it.
void SessionCall::StreamEnded(bool open) {
  if (!open) {
    FinishWith(InvalidArgument("the call ended before its first message, which must have hello"),
               Outcome::kLost);
  } else if (!stream_.input_finished()) {
    FinishWith(Lost(), Outcome::kLost);
  } else {
    OutputReady();
  }
}

void SessionCall::ReadOn(bool was_open) {
  if (!was_open) {
    {
      MutexLock lock(&mu_);
      open_ = true;
      waits_since_ = TimePoint::max();
    }
    Pump();
  }
  WatchAck();
  {
    MutexLock lock(&mu_);
    if (!finished()) {
      if (stream_.waits_for_lease()) {
        input_ = Input::kPaused;
      } else {
        StartNextRead();
      }
      return;
    }
    input_ = Input::kEnded;
  }
  ReleaseIfLast();
}

void SessionCall::WatchAck() {
  const TimePoint due = stream_.ack_due();
  if (due == TimePoint::max()) return;
  if (due <= Now()) {
    OutputReady();
  } else if (!ack_watched_.exchange(true)) {
    environment_.deadlines->CheckAt(this, due);
  }
}

// ---- Writing role.

void SessionCall::OutputReady() { environment_.replies->Schedule(shared_from_this()); }

void SessionCall::Pump() {
  {
    MutexLock lock(&mu_);
    if (!open_ || finished()) return;
    output_again_ = writing_;
    if (std::exchange(writing_, true)) return;
  }
  WriteOutput();
}

void SessionCall::OnWriteDone(bool ok) {
  {
    MutexLock lock(&mu_);
    writing_ = ok;
    if (!ok) return;  // the call is lost; OnDone follows
  }
  out_.Clear();
  WriteOutput();
}

void SessionCall::WriteOutput() {
  while (true) {
    const TimePoint now = Now();
    const bool any = stream_.Next(now, &out_);
    Status end;
    const SessionPort::Ending ending =
        any ? SessionPort::Ending::kOpen : stream_.CheckEnd(now, &end);
    MutexLock lock(&mu_);
    if (finished()) {
      writing_ = false;
      break;
    }
    // The session has its lease.
    if (input_ == Input::kPaused && !stream_.waits_for_lease()) StartNextRead();
    if (any) {
      waits_since_ = now;
      StartWrite(&out_);
      return;
    }
    waits_since_ = stream_.awaits_ack_since();
    if (ending == SessionPort::Ending::kEnded) {
      writing_ = false;
      FinishLocked(end, Outcome::kReleased);
      return;
    }
    if (ending == SessionPort::Ending::kUnacknowledged && input_ == Input::kEnded) {
      writing_ = false;  // no ack can come any more
      FinishLocked(Lost(), Outcome::kLost);
      return;
    }
    if (!std::exchange(output_again_, false)) {
      writing_ = false;
      return;
    }
  }
  ReleaseIfLast();
}

// ---- The end.

void SessionCall::CheckDeadlines(TimePoint now) {
  TimePoint since;
  bool open = false;
  {
    MutexLock lock(&mu_);
    if (phase_ == Phase::kFinished && now - waits_since_ >= kTimeAfterEnd) context_->TryCancel();
    if (finished()) return;
    open = open_;
    since = waits_since_;
    if (!open && now - since >= environment_.hello_timeout) {
      FinishLocked(Error(StatusCode::kDeadlineExceeded, "no Hello within {} ms of the call's start",
                         MillisecondsOf(environment_.hello_timeout)),
                   Outcome::kLost);
    }
  }
  if (!open) return;
  ack_watched_ = false;
  WatchAck();
  if (since == TimePoint::max()) return;
  if (!IsStalled(now - std::max(since, stream_.acknowledged_at()))) return;
  MutexLock lock(&mu_);
  // A client that has caught up meanwhile is waited for since another time.
  if (waits_since_ != since || finished()) return;
  outcome_ = Outcome::kRefused;
  // Not Finish: a status would wait behind the write that is not read.
  context_->TryCancel();
}

bool SessionCall::IsStalled(Duration waited) {
  // A session that the daemon has ended is not kept for a client that does not read.
  Status end;
  if (waited >= kTimeAfterEnd && stream_.SessionEnded(&end) && !end.ok()) return true;
  Admin& admin = environment_.stream.service->admin();
  auto timeouts = admin.GetTimeouts(stream_.session_id());
  if (!timeouts.ok()) timeouts = admin.GetTimeouts(0);  // it has been released
  return timeouts.ok() && waited >= std::chrono::milliseconds(timeouts->stalled_client_ms);
}

void SessionCall::FinishWith(const Status& status, Outcome outcome) {
  MutexLock lock(&mu_);
  FinishLocked(status, outcome);
}

void SessionCall::FinishLocked(const Status& status, Outcome outcome) {
  if (finished()) return;
  phase_ = Phase::kFinished;
  if (outcome_ == Outcome::kLost) outcome_ = outcome;
  waits_since_ = Now();  // the status waits behind a write that the client may not read
  Finish(ToGrpc(status));
}

void SessionCall::OnCancel() {
  FinishWith(Error(StatusCode::kCancelled, "the client has gone or has cancelled the call"),
             Outcome::kLost);
}

void SessionCall::OnDone() {
  {
    MutexLock lock(&mu_);
    phase_ = Phase::kDone;
  }
  environment_.deadlines->Remove(this);
  ReleaseIfLast();
}

// gRPC may be done while a thread still holds a role: the last one gives the session back.
void SessionCall::ReleaseIfLast() {
  std::shared_ptr<SessionCall> self;  // destroyed after the lock
  Outcome outcome;
  {
    MutexLock lock(&mu_);
    if (phase_ != Phase::kDone || writing_ || input_ == Input::kProcessing) return;
    self = std::exchange(self_, nullptr);
    if (self == nullptr) return;
    outcome = outcome_;
  }
  if (stream_.open() && outcome != Outcome::kReleased) stream_.Abandon(outcome == Outcome::kLost);
}

}  // namespace ttfd
