// The calls of a session: which one it obeys, how one ends, how another takes over.
#include <algorithm>
#include <utility>

#include "daemon/session/secret.h"
#include "daemon/session/session.h"
#include "daemon/session/status_reason.h"

namespace ttfd {

Status Session::HearClient(uint64_t attachment) {
  if (attachment != last_attachment_) return Replaced();
  if (!open()) return end_status_.ok() ? InvalidArgument("the session has ended") : end_status_;
  last_sign_of_client_ = environment_.clock->Now();
  used_token_.clear();
  return OkStatus();
}

bool Session::finished(uint64_t attachment, Status* status) {
  MutexLock lock(&mu_);
  if (attachment != last_attachment_) {
    *status = Replaced();
    return true;
  }
  const bool all_told =
      phase_ == Phase::kFinishing && AllDone() && (half_closed_ || buffer_.all_received());
  if (open() && !all_told) return false;
  *status = end_status_;
  if (phase_ == Phase::kFinishing) phase_ = Phase::kEnded;
  GiveUpTurn();
  attached_ = 0;
  output_ = nullptr;
  ReleaseIfIdle();
  return true;
}

void Session::Abandon(uint64_t attachment, bool lost) {
  MutexLock lock(&mu_);
  if (attachment != attached_) return;
  attached_ = 0;
  output_ = nullptr;
  told_ = false;
  // Nobody can come back to a session whose Welcome, and with it the token, has not been told.
  if (!lost || waiting_ || buffer_.owes_welcome() || grace_ == Duration::zero()) {
    EndLocked(Error(StatusCode::kCancelled, "the call is gone"));
    return;
  }
  if (open()) resume_until_ = environment_.clock->Now() + grace_;
  EndIfDrained();
  LookAgain();
  ReleaseIfIdle();
}

// ---- another call

Status Session::Replaced() {
  return WithReason(
      Error(StatusCode::kAborted, "the session goes on with another call, which has resumed it"),
      reason::kCancelled);
}

bool Session::KnowsToken(const std::string& token) const {
  const bool newest = SameSecret(token, token_);
  const bool used = SameSecret(token, used_token_);
  return newest || used;
}

StatusOr<Session::Attached> Session::Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                            std::string next_token, SessionOutput* output) {
  MutexLock lock(&mu_);
  // One answer for all: a stranger learns nothing from it.
  if (!KnowsToken(hello.resume.token) || peer.uid != peer_.uid ||
      peer.certificate != peer_.certificate || !open() || waiting_ || grace_ == Duration::zero() ||
      next_token.empty()) {
    return SessionLost(hello.resume.session);
  }
  RETURN_IF_ERROR(executor_.CheckReceived(hello.resume.received));
  if (output_ != nullptr) output_->OutputReady();  // it will hear that it was replaced
  attached_ = ++last_attachment_;
  output_ = output;
  pid_ = peer.pid;
  told_ = input_refused_ = half_closed_ = false;
  resume_until_ = TimePoint::max();
  phase_ = Phase::kActive;
  last_sign_of_client_ = environment_.clock->Now();
  used_token_ = hello.resume.token;
  token_ = std::move(next_token);
  buffer_.Rewind(hello.resume.received, hello.resume.prints);
  grace_ = std::chrono::milliseconds(
      std::min<uint64_t>(hello.resume_grace_ms, environment_.limits.resume_grace_ms));
  buffer_.set_keep(grace_ > Duration::zero());
  Attached attached{attached_, welcome_};
  attached.welcome.token = token_;
  attached.welcome.accepted = executor_.Resume();
  attached.welcome.credit = credit_told_ = Credit();
  GoOn();
  return attached;
}

}  // namespace ttfd
