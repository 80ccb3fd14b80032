// A session whose launches hang too often is suspended, so that its owner's card is everybody else's too.
#include <fmt/format.h>

#include "daemon/session/errors.h"
#include "daemon/session/session.h"
#include "daemon/session/status_reason.h"

namespace ttfd {

void Session::Hung(const std::string& report, const HangPolicy& policy) {
  const TimePoint now = environment_.clock->Now();
  const Duration window = std::chrono::milliseconds(policy.suspend_window_ms);
  MutexLock lock(&mu_);
  ++hangs_;
  recent_hangs_.emplace_back(now, report);
  // No more of them than it takes to suspend the session.
  while (recent_hangs_.size() > policy.suspend_hangs ||
         (!recent_hangs_.empty() && now - recent_hangs_.front().first > window)) {
    recent_hangs_.pop_front();
  }
  const bool suspend = policy.suspend_hangs != 0 && recent_hangs_.size() >= policy.suspend_hangs;
  if (!suspend || !suspended_.empty() || !open()) return Advance();
  std::string reports;
  for (const auto& [when, id] : recent_hangs_) reports += (reports.empty() ? "" : ", ") + id;
  suspended_ = fmt::format(
      "the session is quarantined for {} s: {} of its launches hung or faulted within that time{}; "
      "an administrator can release it earlier",
      policy.suspend_window_ms / 1000, recent_hangs_.size(),
      reports.find_first_not_of(", ") == reports.npos ? "" : fmt::format(" ({})", reports));
  suspended_until_ = now + window;
  const ErrorReply error =
      MakeError(StatusCode::kFailedPrecondition, reason::kQuarantined, "", "{}", suspended_);
  executor_.Suspend(error);
  Advance();
}

Status Session::Release() {
  MutexLock lock(&mu_);
  if (suspended_.empty()) {
    return WithReason(Error(StatusCode::kFailedPrecondition, "session {} is not quarantined", id()),
                      reason::kInvalid, "session");
  }
  Unsuspend();
  return OkStatus();
}

void Session::Unsuspend() {
  suspended_.clear();
  suspended_until_ = TimePoint::max();
  recent_hangs_.clear();
  executor_.Unsuspend();
  if (draining_) executor_.decoder().RefuseNew(DrainingError());
}

}  // namespace ttfd
