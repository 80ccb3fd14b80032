// Maintenance of the daemon: status, deadlines, drain, reset.
#include <algorithm>
#include <utility>

#include "daemon/core/daemon_core.h"
#include "daemon/core/profile_query.h"
#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"
#include "runtime/base/log.h"

namespace ttfd {
namespace {

// From the free of memory until the heap returns it.
constexpr Duration kTrimDelay = std::chrono::seconds(1);

DaemonState StateOf(DeviceState device, bool draining) {
  switch (device) {
    case DeviceState::kBooting:
      return DaemonState::kBooting;
    case DeviceState::kReady:
      return draining ? DaemonState::kDraining : DaemonState::kReady;
    case DeviceState::kRecovering:
      return DaemonState::kRecovering;
    case DeviceState::kFailed:
      return DaemonState::kFailed;
  }
  return DaemonState::kFailed;
}

}  // namespace

void DaemonCore::DeviceStateChanged(DeviceState state, const std::string& why) {
  {
    MutexLock lock(&mu_);
    state_ = state;
    if (!why.empty()) last_error_ = {why, executor_.stats().launches};
  }
  const bool failed = state == DeviceState::kFailed;
  sessions_.SetClosed(Sessions::Closed::kDeviceFailed, failed ? DeviceResetStatus(why) : OkStatus(),
                      [](Session&) {});
  const bool memory_lost = state == DeviceState::kRecovering && !device_.info.memory_survives_reset;
  if (!failed && !memory_lost) return;
  // A buffer that silently holds something else is worse than no session.
  const std::string text =
      memory_lost ? fmt::format("the card was reset and lost its memory: {}", why) : why;
  for (const auto& session : sessions_.All()) {
    session->End(DeviceResetStatus(text));
  }
}

void DaemonCore::SessionHung(Session& session, const std::string& report) {
  session.CountHang();
  if (environment_.quarantine.AddHang(session.uid(), report, options_.hangs, clock_.Now())) {
    UpdateQuarantine(session.uid());
  }
}

void DaemonCore::UpdateQuarantine(uint32_t uid) {
  for (const auto& session : sessions_.All()) {
    if (session->uid() == uid) session->UpdateQuarantine();
  }
}

DevicesReply DaemonCore::ListDevices() {
  return {booted_ ? std::vector<DeviceReply>{device_} : std::vector<DeviceReply>(),
          environment_.limits};
}

StatusReply DaemonCore::GetStatus() {
  StatusReply status;
  status.daemon = options_.identity;
  status.devices = ListDevices().devices;
  status.uptime_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - created_).count());
  const DeviceStats stats = executor_.stats();
  status.commands_completed = environment_.commands_ended;
  status.launches_completed = stats.launches;
  status.bytes_written = stats.bytes_written;
  status.bytes_read = stats.bytes_read;
  status.device_resets = stats.resets;
  status.hardware_queues = executor_.queue_stats();
  status.quantum_ns = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(options_.scheduler.quantum).count());
  if (environment_.memory != nullptr) status.memory = environment_.memory->Use();
  status.last_hang_report = hang_store_->last();
  status.card = executor_.reading();
  status.sessions = static_cast<uint32_t>(sessions_.size());
  const bool draining = drain_.active();
  MutexLock lock(&mu_);
  status.state = StateOf(state_, draining);
  if (stats.launches == last_error_.second) status.last_error = last_error_.first;
  return status;
}

Status DaemonCore::Profile(const ProfileQuery& query,
                           std::shared_ptr<const std::atomic<bool>> cancelled,
                           std::function<void(StatusOr<ProfileResult>)> done) {
  ASSIGN_OR_RETURN(Profiler::Request request, ProfileRequestOf(query, device_.card.grid));
  request.cancelled = std::move(cancelled);
  request.done = std::move(done);
  executor_.RequestProfile(std::move(request));
  return OkStatus();
}

Status DaemonCore::ResetDevice(uint32_t device, std::function<void(const Status&)> done) {
  if (device != 0) {
    return Error(StatusCode::kNotFound,
                 "there is no device {}: this daemon serves one card, device 0", device);
  }
  executor_.RequestReset(std::move(done));
  return OkStatus();
}

void DaemonCore::DrainForShutdown(uint32_t within_ms, ProgressCallback progress) {
  drain_.Begin(within_ms, std::move(progress), /*for_ever=*/true);
}

void DaemonCore::Drain(uint32_t within_ms, ProgressCallback progress) {
  drain_.Begin(within_ms, std::move(progress), /*for_ever=*/false);
}

Status DaemonCore::Undrain() { return drain_.End(); }

Status DaemonCore::HangReportsAreWritten() const {
  if (hang_writer_ == nullptr || hang_writer_->Settle()) return OkStatus();
  return Error(StatusCode::kUnavailable,
               "a hang report is being written to {}, whose disk does not answer; ask again later",
               options_.hang_store.folder);
}

StatusOr<std::vector<HangSummary>> DaemonCore::ListHangReports() {
  RETURN_IF_ERROR(HangReportsAreWritten());
  return hang_store_->List();
}

StatusOr<std::vector<HangStore::File>> DaemonCore::GetHangReport(const HangReportId& id) {
  RETURN_IF_ERROR(HangReportsAreWritten());
  return hang_store_->Read(id);
}

// ---- device thread

bool DaemonCore::HandleInput() {
  const bool handled = input_.HandleSome();
  return RunChecks() || handled;
}

TimePoint DaemonCore::InputDue() const {
  if (input_.any()) return TimePoint::min();
  return checks_due_.Get();
}

void DaemonCore::RunChecksAt(TimePoint when) {
  if (checks_due_.Lower(when)) executor_.Wake();
}

// A check that becomes due while these run lowers its time again.
bool DaemonCore::RunChecks() {
  if (checks_due_.Get() == TimePoint::max()) return false;
  const TimePoint now = clock_.Now();
  if (!checks_due_.TakeIfDue(now)) return false;
  CheckSessions(now);
  CheckMemory(now);
  drain_.Check(now);
  leases_.Check(now);
  return true;
}

void DaemonCore::CheckSessionsAt(TimePoint when) {
  if (sessions_due_.Lower(when)) RunChecksAt(when);
}

void DaemonCore::CheckSessions(TimePoint now) {
  if (!sessions_due_.TakeIfDue(now)) return RunChecksAt(sessions_due_.Get());
  TimePoint next = TimePoint::max();
  for (const auto& session : sessions_.All()) {
    next = std::min(next, session->CheckDeadlines(now));
  }
  CheckSessionsAt(next);
}

void DaemonCore::MemoryFreed() {
  const TimePoint when = clock_.Now() + kTrimDelay;
  if (trim_due_.Lower(when)) RunChecksAt(when);
}

// The heap keeps what was freed for the next who needs it. While commands are on their way that is as well: giving it
// back takes time, and so does getting it again.
void DaemonCore::CheckMemory(TimePoint now) {
  if (!trim_due_.TakeIfDue(now)) return RunChecksAt(trim_due_.Get());
  if (sessions_.AnyUses(Resource::kWindowBytes)) return MemoryFreed();
  host_work_.Add(HostWork::kDaemon, options_.trim_memory);
}

void DaemonCore::HandleAllInput() {
  do {
    while (has_input()) HandleInput();
  } while (host_work_.RunOne());
}

bool DaemonCore::RunOnce() {
  bool more = executor_.RunOnce();
  while (host_work_.RunOne()) more = true;
  return more;
}

}  // namespace ttfd
