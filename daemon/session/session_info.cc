// What people are shown of a session.
#include "daemon/session/session.h"

namespace ttfd {
namespace {

uint64_t Nanoseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

}  // namespace

LimitUsageReply Session::LimitUsage() const {
  MutexLock lock(&mu_);
  LimitUsageReply uses;
  uses.scope = LimitScope::kSession;
  uses.session = id();
  uses.uid = peer_.uid;
  uses.user = client_.user;
  uses.client_name = client_.name;
  uses.uses = executor_.use().Describe();
  // The session's own limit is of what is sent.
  uses.uses[static_cast<size_t>(Resource::kUnacknowledgedBytes)].used =
      transport_->unacknowledged.bytes();
  return uses;
}

SessionInfoReply Session::Info(TimePoint now) const {
  MutexLock lock(&mu_);
  SessionInfoReply info;
  info.session = id();
  info.client_name = client_.name;
  info.user = client_.user;
  info.uid = peer_.uid;
  info.pid = pid_;
  info.lease = lease_;
  info.state = detached() ? SessionState::kDetached
               : phase_ == Phase::kActive
                   ? (waiting_ ? SessionState::kWaiting : SessionState::kActive)
               : phase_ == Phase::kFinishing ? SessionState::kFinishing
                                             : SessionState::kEnding;
  if (open() && !suspended_.empty()) info.state = SessionState::kQuarantined;
  info.quarantine_reason = suspended_;
  info.hangs = hangs_;
  info.dram_bytes = executor_.handles().dram_bytes();
  info.l1_bytes = executor_.handles().l1_bytes();
  info.handles = static_cast<uint32_t>(executor_.handles().size());
  info.weight = weight_;
  info.priority = priority_;
  info.device_ns = Nanoseconds(account_.device_time);
  info.longest_work_ns = Nanoseconds(account_.longest_work);
  info.launches = account_.launches;
  info.bytes_written = account_.bytes_written;
  info.bytes_read = account_.bytes_read;
  info.waits = {account_.waits.count(), Nanoseconds(account_.waits.total()),
                Nanoseconds(account_.waits.Quantile(0.5)),
                Nanoseconds(account_.waits.Quantile(0.99)), Nanoseconds(account_.waits.max())};
  info.connected_ms = static_cast<uint64_t>((now - opened_) / std::chrono::milliseconds(1));
  for (const auto& [number, queue] : executor_.queues().all()) {
    info.submitted.push_back({number, queue.sent});
    info.completed.push_back({number, queue.completed});
  }
  return info;
}

}  // namespace ttfd
