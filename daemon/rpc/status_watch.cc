// Samples, compares, writes.
#include "daemon/rpc/status_watch.h"

#include <utility>

#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/call_status.h"
#include "daemon/session/errors.h"

namespace ttfd {

StatusWatch* StatusWatch::Start(DaemonService& daemon, const Status& allowed,
                                const v1::WatchStatusRequest& request) {
  const uint32_t interval_ms = request.has_interval_ms() ? request.interval_ms() : kDefaultMs;
  std::shared_ptr<StatusWatch> call(new StatusWatch(daemon, interval_ms));
  MutexLock lock(&call->mu_);
  call->self_ = call;
  if (!allowed.ok()) {
    call->FinishLocked(allowed);
  } else if (interval_ms < kMinMs || interval_ms > kMaxMs) {
    call->FinishLocked(ToStatus(
        InvalidError("interval_ms", "{}; {} to {} are allowed", interval_ms, kMinMs, kMaxMs)));
  } else {
    call->Sample();
  }
  return call.get();
}

void StatusWatch::Sample() {
  if (finished_) return;
  reading_.emplace(daemon_);
  Look();
}

void StatusWatch::Look() {
  if (finished_) return;
  if (!reading_->IsOver()) {
    return Later(ReadingWait::kLookEvery, &StatusWatch::Look);
  }
  status_.Clear();
  ToProto(daemon_.GetStatus(), &status_);
  // These change by themselves.
  const uint64_t uptime_ms = status_.uptime_ms();
  const uint64_t reading_age_ms = status_.reading_age_ms();
  status_.clear_uptime_ms();
  if (status_.has_reading_age_ms()) status_.set_reading_age_ms(0);
  std::string encoded = status_.SerializeAsString();
  if (encoded == written_) return SampleLater();
  written_ = std::move(encoded);
  status_.set_uptime_ms(uptime_ms);
  if (status_.has_reading_age_ms()) status_.set_reading_age_ms(reading_age_ms);
  StartWrite(&status_);
}

void StatusWatch::SampleLater() { Later(interval_, &StatusWatch::Sample); }

void StatusWatch::Later(std::chrono::milliseconds time, Step step) {
  // One object each: an alarm may not be set again while it calls back.
  alarm_ = std::make_unique<grpc::Alarm>();
  alarm_->Set(std::chrono::system_clock::now() + time, [call = self_, step](bool) {
    MutexLock lock(&call->mu_);
    ((*call).*step)();
  });
}

void StatusWatch::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  if (ok && !finished_) SampleLater();
}

void StatusWatch::OnCancel() {
  MutexLock lock(&mu_);
  FinishLocked(Error(StatusCode::kCancelled, "the client has ended the call"));
}

// Destroying an alarm that is still set makes it call back at once; it shares the call until it has.
void StatusWatch::OnDone() {
  std::shared_ptr<StatusWatch> self;  // both are destroyed after the lock is released
  std::unique_ptr<grpc::Alarm> alarm;
  MutexLock lock(&mu_);
  alarm = std::move(alarm_);
  self = std::exchange(self_, nullptr);
}

void StatusWatch::FinishLocked(const Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpc(status));
}

}  // namespace ttfd
