// A drain: no new sessions or commands, until every session has ended or the time is over.
#include "daemon/core/drain.h"

#include <algorithm>
#include <utility>

#include "daemon/api/status_reason.h"

namespace ttfd {
namespace {

Status DrainingStatus() {
  return WithReason(
      Error(StatusCode::kUnavailable, "the daemon is going down and opens no new sessions"),
      reason::kDraining);
}

// Takes locks of the sessions.
std::vector<SessionInfoReply> InfosOf(const std::vector<std::shared_ptr<Session>>& sessions,
                                      TimePoint now) {
  std::vector<SessionInfoReply> infos;
  const size_t count = std::min(sessions.size(), ProgressReply::kMaxSessions);
  infos.reserve(count);
  for (size_t i = 0; i < count; ++i) infos.push_back(sessions[i]->Info(now));
  return infos;
}

}  // namespace

void Drain::Begin(uint32_t within_ms, ProgressCallback progress, bool for_ever) {
  {
    MutexLock lock(&mu_);
    for_ever_ = for_ever_ || for_ever;
    if (active_ == nullptr) active_ = std::make_unique<Active>();
    active_->deadline = clock_.Now() + std::chrono::milliseconds(within_ms);
    active_->reported_left = ~uint64_t{0};
    active_->progress.push_back(std::move(progress));
    sessions_.SetClosed(Sessions::Closed::kDraining, DrainingStatus(), [](Session& session) {
      session.Post([](Session& drained) { drained.Drain(); });
    });
  }
  timer_.RunBy(TimePoint::min());
}

Status Drain::End() {
  std::unique_ptr<Active> ended;
  {
    MutexLock lock(&mu_);
    if (for_ever_) {
      return WithReason(Error(StatusCode::kFailedPrecondition, "the daemon is shutting down"),
                        reason::kDraining);
    }
    if (active_ == nullptr) {
      return WithReason(Error(StatusCode::kFailedPrecondition, "the daemon is not draining"),
                        reason::kInvalid);
    }
    ended = std::move(active_);
    sessions_.SetClosed(Sessions::Closed::kDraining, OkStatus(), [](Session& session) {
      session.Post([](Session& undrained) { undrained.Undrain(); });
    });
  }
  for (const auto& progress : ended->progress) progress({ProgressStep::kUndrained, 0, true});
  return OkStatus();
}

void Drain::Stop() {
  MutexLock lock(&mu_);
  for_ever_ = true;
  sessions_.SetClosed(Sessions::Closed::kStopping, DrainingStatus(), [](Session& session) {
    session.Post([](Session& ended) { ended.End(DrainingStatus()); });
  });
}

bool Drain::active() const {
  MutexLock lock(&mu_);
  return active_ != nullptr;
}

void Drain::SessionReleased() {
  if (active()) timer_.RunBy(TimePoint::min());
}

void Drain::Check(TimePoint now) {
  std::vector<ProgressCallback> callbacks;
  std::vector<std::shared_ptr<Session>> sessions;
  ProgressReply progress;
  {
    MutexLock lock(&mu_);
    if (active_ == nullptr || active_->progress.empty()) return;
    progress.left = sessions_.size();
    progress.done = progress.left == 0 || now >= active_->deadline;
    const bool changed = std::exchange(active_->reported_left, progress.left) != progress.left;
    if (!progress.done) timer_.RunBy(active_->deadline);
    if (!progress.done && !changed) return;
    callbacks = active_->progress;
    if (progress.done) active_->progress.clear();
    sessions = sessions_.All();  // as many: none is opened, and this thread removes them
  }
  progress.step = !progress.done     ? ProgressStep::kWaiting
                  : sessions.empty() ? ProgressStep::kDrained
                                     : ProgressStep::kCutShort;
  progress.sessions = InfosOf(sessions, now);
  if (progress.done) {
    for (const auto& session : sessions) {
      session->End(WithReason(
          Error(StatusCode::kUnavailable, "the daemon has gone down before this session ended"),
          reason::kDraining));
    }
  }
  // They write to clients, which the device thread does not.
  host_work_.Add(HostWork::kDaemon,
                 [callbacks = std::move(callbacks), progress = std::move(progress)] {
                   for (const ProgressCallback& callback : callbacks) callback(progress);
                 });
}

}  // namespace ttfd
