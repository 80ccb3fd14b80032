// The connection of a session: attaching, losing, resuming.
#include <algorithm>
#include <utility>

#include "daemon/session/session.h"
#include "daemon/session/status_reason.h"

namespace ttfd {

ClientSession::Ending Session::CheckEnd(const SessionOutput* from, bool acknowledged,
                                        Status* status) {
  MutexLock lock(&mu_);
  if (from != transport_->newest) {
    *status = SessionReplaced();
    return ClientSession::Ending::kEnded;
  }
  const bool done = phase_ == Phase::kFinishing && AllDone();
  if (open() && !done) return ClientSession::Ending::kOpen;
  if (done && !acknowledged && reconnect_timeout_ > Duration::zero()) {
    return ClientSession::Ending::kUnacknowledged;
  }
  *status = end_status_;
  if (phase_ == Phase::kFinishing) {
    phase_ = Phase::kEnded;
    inbox_.Close(end_status_);
  }
  output_ = nullptr;
  ReleaseIfIdle();
  return ClientSession::Ending::kEnded;
}

void Session::Abandon(const SessionOutput* from, bool lost) {
  MutexLock lock(&mu_);
  if (from != output_) return;
  output_ = nullptr;
  // A session whose Welcome, and with it the token, was not sent cannot be resumed.
  const bool resumable =
      reconnect_timeout_ > Duration::zero() && !waiting_ && !outbox_.has_welcome();
  if (!lost || !resumable) {
    EndLocked(Error(StatusCode::kCancelled, "the connection is gone"));
    return;
  }
  if (open()) resume_until_ = environment_.clock->Now() + reconnect_timeout_;
  EndIfDrained();
  ScheduleCheck();
  ReleaseIfIdle();
}

StatusOr<WelcomeReply> Session::Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                       std::string next_token, SessionOutput* output) {
  MutexLock lock(&mu_);
  // One answer for all: it tells nothing about sessions of others.
  const bool same_user = peer.uid == peer_.uid && peer.certificate == peer_.certificate;
  if (!same_user || !open() || waiting_ || reconnect_timeout_ == Duration::zero() ||
      next_token.empty() || !inbox_.Attach(hello.resume.token, next_token, output)) {
    return SessionLost(hello.resume.session);
  }
  if (output_ != nullptr) output_->OutputReady();  // CheckEnd returns that it was replaced
  transport_->newest = output_ = output;
  output_announced_ = false;
  pid_ = peer.pid;
  resume_until_ = TimePoint::max();
  last_data_ = environment_.clock->Now();
  reconnect_timeout_ = ReconnectTimeout(hello);
  executor_.window_account().Advance();
  WelcomeReply welcome = welcome_;
  welcome.token = std::move(next_token);
  welcome.window_bytes = advertised_window_ = executor_.window().granted();
  Advance();
  return welcome;
}

}  // namespace ttfd
