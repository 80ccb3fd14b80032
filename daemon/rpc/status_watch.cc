// Samples, compares, writes.
#include "daemon/rpc/status_watch.h"

#include <utility>

#include "daemon/api/errors.h"
#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/call_status.h"

namespace ttfd {

StatusWatch* StatusWatch::Start(Admin& daemon, const Status& allowed,
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
  const StatusReply sample = daemon_.GetStatus();
  if (!reading_.IsOver(sample)) return SampleAfter(ReadingWait::kSampleEvery);
  reading_ = ReadingWait();
  StatusReply steady = sample;
  steady.uptime_ms = steady.card.age_ms = 0;  // they change by themselves
  status_.Clear();
  ToProto(steady, &status_);
  std::string encoded = status_.SerializeAsString();
  if (encoded == written_) return SampleAfter(interval_);
  written_ = std::move(encoded);
  status_.Clear();
  ToProto(sample, &status_);
  StartWrite(&status_);
}

void StatusWatch::SampleAfter(std::chrono::milliseconds time) {
  // One object each: an alarm may not be set again while it calls back.
  alarm_ = std::make_unique<grpc::Alarm>();
  alarm_->Set(std::chrono::system_clock::now() + time, [call = self_](bool) {
    MutexLock lock(&call->mu_);
    call->Sample();
  });
}

void StatusWatch::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  if (ok && !finished_) SampleAfter(interval_);
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
