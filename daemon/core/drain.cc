// A drain: no new sessions or commands, until every session has ended or the time is over.
#include "daemon/core/drain.h"

#include <utility>

#include "daemon/api/status_reason.h"

namespace ttfd {
namespace {

Status DrainingStatus() {
  return WithReason(
      Error(StatusCode::kUnavailable, "the daemon is going down and opens no new sessions"),
      reason::kDraining);
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
  for (const auto& progress : ended->progress) progress(ProgressStep::kUndrained, 0, true);
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
  uint64_t left = 0;
  bool late = false, changed = false;
  {
    MutexLock lock(&mu_);
    if (active_ == nullptr || active_->progress.empty()) return;
    left = sessions_.size();
    late = now >= active_->deadline;
    changed = std::exchange(active_->reported_left, left) != left;
    callbacks = active_->progress;
    if (left == 0 || late) active_->progress.clear();
    if (left > 0 && !late) timer_.RunBy(active_->deadline);
  }
  if (late && left > 0) {
    for (const auto& session : sessions_.All()) {
      session->End(WithReason(
          Error(StatusCode::kUnavailable, "the daemon has gone down before this session ended"),
          reason::kDraining));
    }
  }
  const bool done = left == 0 || late;
  if (!done && !changed) return;
  const ProgressStep step = !done       ? ProgressStep::kWaiting
                            : left == 0 ? ProgressStep::kDrained
                                        : ProgressStep::kCutShort;
  // They write to clients, which the device thread does not.
  host_work_.Add(HostWork::kDaemon, [callbacks = std::move(callbacks), step, left, done] {
    for (const ProgressCallback& progress : callbacks) progress(step, left, done);
  });
}

}  // namespace ttfd
