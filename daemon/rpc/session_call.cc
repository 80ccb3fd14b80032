// Reading, writing and the end of a session call; see the header.
#include "daemon/rpc/session_call.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"

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

std::shared_ptr<CallHandler> SessionCall::Start(const SessionCallEnvironment& environment,
                                                ServerCall& call, PeerIdentity peer) {
  std::shared_ptr<SessionCall> handler(new SessionCall(environment, call, std::move(peer)));
  environment.calls->Add();
  call.WakeAt(call.Now() + environment.check_period);
  call.Read();
  return handler;
}

SessionCall::SessionCall(const SessionCallEnvironment& environment, ServerCall& call,
                         PeerIdentity peer)
    : environment_(environment),
      call_(call),
      tasks_(call.tasks()),
      stream_(environment.stream, std::move(peer), this),
      waits_since_(call.Now()) {}

// ---- Reading.

void SessionCall::OnRead(grpc::ByteBuffer* message) {
  if (input_ == Input::kEnded) return;
  if (message == nullptr) return StreamEnded();
  const bool was_open = stream_.open();
  const Status status = stream_.Read(message, call_.Now());
  if (!status.ok()) {
    FinishWith(status, Outcome::kRefused);
    if (stream_.open()) stream_.Abandon(/*lost=*/false);  // now: the status may wait behind a write
    return;
  }
  if (!was_open) {
    {
      MutexLock lock(&mu_);
      open_ = true;
      waits_since_ = TimePoint::max();
    }
    Run();
  }
  WatchAck();
  ReadOn();
}

// After Finish a client has nothing more to say, if it cannot resume. Else the connection is lost, though gRPC may
// still write to it.
void SessionCall::StreamEnded() {
  input_ = Input::kEnded;
  if (!stream_.open()) {
    FinishWith(InvalidArgument("the call ended before its first message, which must have hello"),
               Outcome::kLost);
  } else if (!stream_.input_finished()) {
    FinishWith(Lost(), Outcome::kLost);
  } else {
    Run();
  }
}

void SessionCall::ReadOn() {
  if (input_ == Input::kEnded) return;
  input_ = stream_.waits_for_lease() ? Input::kPaused : Input::kReading;
  if (input_ == Input::kReading) call_.Read();
}

void SessionCall::WatchAck() {
  const TimePoint due = stream_.ack_due();
  if (due == TimePoint::max()) return;
  if (due <= call_.Now()) {
    Run();
  } else {
    call_.WakeAt(due);
  }
}

// ---- Writing.

void SessionCall::OutputReady() { tasks_->Post(shared_from_this()); }

void SessionCall::Run() {
  MutexLock lock(&mu_);
  again_ = writing_;
  if (open_ && !finished_ && !writing_) WriteOutput();
}

void SessionCall::OnWritten(bool ok) {
  {
    MutexLock lock(&mu_);
    writing_ = false;
    out_.Clear();
    if (!ok || finished_) return;  // a lost call: OnCancelled follows
    waits_since_ = stream_.awaits_ack_since();
    if (stream_.more() || again_) WriteOutput();
  }
  // The Welcome of a session that waited for its lease was written.
  if (input_ == Input::kPaused && !stream_.waits_for_lease()) ReadOn();
}

void SessionCall::WriteOutput() {
  const TimePoint now = call_.Now();
  again_ = false;
  if (!stream_.Next(now, &out_)) return CheckEnd(now);
  waits_since_ = now;
  writing_ = true;
  call_.Write(out_);
}

void SessionCall::CheckEnd(TimePoint now) {
  Status end;
  const SessionPort::Ending ending = stream_.CheckEnd(now, &end);
  waits_since_ = stream_.awaits_ack_since();
  if (ending == SessionPort::Ending::kOpen) return;
  if (!call_.OnPollerThread()) return tasks_->Post(shared_from_this());
  if (ending == SessionPort::Ending::kEnded) {
    FinishLocked(end, Outcome::kReleased);
  } else if (input_ == Input::kEnded) {
    FinishLocked(Lost(), Outcome::kLost);  // no ack can come any more
  }
}

// ---- The end.

void SessionCall::OnDue(TimePoint now) {
  call_.WakeAt(now + environment_.check_period);
  TimePoint since;
  {
    MutexLock lock(&mu_);
    since = waits_since_;
    if (finished_) {
      if (now - since >= kTimeAfterEnd) call_.Cancel();
      return;
    }
    if (!open_ && now - since >= environment_.hello_timeout) {
      FinishLocked(Error(StatusCode::kDeadlineExceeded, "no Hello within {} ms of the call's start",
                         MillisecondsOf(environment_.hello_timeout)),
                   Outcome::kLost);
    }
    if (!open_) return;
  }
  WatchAck();
  if (since == TimePoint::max()) return;
  if (!IsStalled(now - std::max(since, stream_.acknowledged_at()))) return;
  MutexLock lock(&mu_);
  // A client that has caught up meanwhile is waited for since another time.
  if (waits_since_ != since || finished_) return;
  outcome_ = Outcome::kRefused;
  // Not Finish: a status would wait behind the write that is not read.
  call_.Cancel();
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
  if (finished_) return;
  finished_ = true;
  input_ = Input::kEnded;
  if (outcome_ == Outcome::kLost) outcome_ = outcome;
  waits_since_ = call_.Now();  // the status waits behind a write that the client may not read
  call_.Finish(status);
}

void SessionCall::OnCancelled() {
  FinishWith(Error(StatusCode::kCancelled, "the client has gone or has cancelled the call"),
             Outcome::kLost);
}

void SessionCall::OnEnd() {
  if (stream_.open() && outcome_ != Outcome::kReleased) {
    stream_.Abandon(outcome_ == Outcome::kLost);
  }
  environment_.calls->Remove();
}

}  // namespace ttfd
