// Deadlines of a session.
#include "daemon/session/session_deadlines.h"

#include <algorithm>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"

namespace ttfd {
namespace {

// Interval at which a session without a connection checks whether its client's process still exists.
constexpr Duration kProcessCheck = std::chrono::milliseconds(100);
// Interval at which a session whose window is reduced requests the rest.
constexpr Duration kWindowRetry = std::chrono::milliseconds(100);

}  // namespace

SessionDeadlines::SessionDeadlines(Session session, const Connection& connection, TimePoint now)
    : session_(std::move(session)), connection_(connection), last_data_(now), last_command_(now) {
  const Duration idle = std::chrono::milliseconds(session_.limits.idle_ms);
  if (idle > Duration::zero()) next_check_ = now + idle;
}

void SessionDeadlines::SetConnection(const Connection& connection, TimePoint now) {
  connection_ = connection;
  if (connection.connected()) {
    resume_until_ = TimePoint::max();
    last_data_ = now;
  } else {
    resume_until_ = now + connection.reconnect_timeout;
  }
}

std::optional<TimePoint> SessionDeadlines::Schedule(const Waits& waits, TimePoint now) {
  TimePoint next = std::min(waits.until, resume_until_);
  if (waits.for_data) next = std::min(next, last_data_ + session_.timeouts.stalled_client());
  if (detached() && connection_.pid != 0) next = std::min(next, now + kProcessCheck);
  if (!detached() && waits.for_window) next = std::min(next, now + kWindowRetry);
  if (next >= next_check_) return std::nullopt;
  next_check_ = next;
  return next;
}

bool SessionDeadlines::TakeIfDue(TimePoint now) {
  if (now < next_check_) return false;
  next_check_ = TimePoint::max();
  return true;
}

std::optional<Status> SessionDeadlines::Late(bool waits_for_data, TimePoint now) const {
  if (now >= resume_until_) return SessionLost(session_.id);
  if (detached() && session_.process_ended(connection_.pid)) {
    return Error(StatusCode::kCancelled, "the client's process has ended");
  }
  const Duration stalled = session_.timeouts.stalled_client();
  if (!waits_for_data || now - last_data_ <= stalled) return std::nullopt;
  return WithReason(
      Error(StatusCode::kDeadlineExceeded,
            "the client has not sent the data of its commands for {} ms", MillisecondsOf(stalled)),
      reason::kDeadline);
}

std::optional<Status> SessionDeadlines::Idle(bool busy, TimePoint now) {
  const uint64_t limit_ms = session_.limits.idle_ms;
  if (limit_ms == 0 || session_.leased) return std::nullopt;
  const Duration limit = std::chrono::milliseconds(limit_ms);
  const TimePoint since = busy ? now : last_command_;
  if (now - since < limit) {
    next_check_ = std::min(next_check_, since + limit);
    return std::nullopt;
  }
  return ToStatus(LimitError("", "idle_ms", limit_ms, MillisecondsOf(now - last_command_),
                             "the session has had no command for too long"));
}

}  // namespace ttfd
