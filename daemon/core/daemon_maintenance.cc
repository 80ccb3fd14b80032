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
constexpr uint64_t kDaemonsWork = 0;  // no session has this number

// False: it was as early before.
bool Lower(std::atomic<TimePoint>* time, TimePoint to) {
  TimePoint before = time->load(std::memory_order_relaxed);
  while (to < before) {
    if (time->compare_exchange_weak(before, to, std::memory_order_acq_rel)) return true;
  }
  return false;
}

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
  const bool memory_lost = state == DeviceState::kRecovering && !device_.info.memory_survives_reset;
  if (state != DeviceState::kFailed && !memory_lost) return;
  // A buffer that silently holds something else is worse than no session.
  const std::string text =
      memory_lost ? fmt::format("the card was reset and lost its memory: {}", why) : why;
  for (const auto& session : Sessions()) {
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
  for (const auto& session : Sessions()) {
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
  MutexLock lock(&mu_);
  status.sessions = static_cast<uint32_t>(sessions_.size());
  status.state = StateOf(state_, draining_ != nullptr);
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
  {
    MutexLock lock(&mu_);
    shutting_down_ = true;
  }
  Drain(within_ms, std::move(progress));
}

Status DaemonCore::Undrain() {
  std::unique_ptr<Draining> ended;
  {
    MutexLock lock(&mu_);
    if (shutting_down_ || stopping_) {
      return WithReason(Error(StatusCode::kFailedPrecondition, "the daemon is shutting down"),
                        reason::kDraining);
    }
    if (draining_ == nullptr) {
      return WithReason(Error(StatusCode::kFailedPrecondition, "the daemon is not draining"),
                        reason::kInvalid);
    }
    ended = std::move(draining_);
    for (const auto& [id, session] : sessions_) {
      session->Post([](Session& undrained) { undrained.Undrain(); });
    }
  }
  for (const auto& progress : ended->progress) progress(ProgressStep::kUndrained, 0, true);
  return OkStatus();
}

void DaemonCore::Drain(uint32_t within_ms, ProgressCallback progress) {
  {
    MutexLock lock(&mu_);
    if (draining_ == nullptr) draining_ = std::make_unique<Draining>();
    draining_->deadline = clock_.Now() + std::chrono::milliseconds(within_ms);
    draining_->reported_left = ~uint64_t{0};
    draining_->progress.push_back(std::move(progress));
    for (const auto& [id, session] : sessions_) {
      session->Post([](Session& drained) { drained.Drain(); });
    }
  }
  RunChecksAt(TimePoint::min());
}

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
  return checks_due_.load(std::memory_order_acquire);
}

void DaemonCore::RunChecksAt(TimePoint when) {
  if (Lower(&checks_due_, when)) executor_.Wake();
}

bool DaemonCore::RunChecks() {
  const TimePoint due = checks_due_.load(std::memory_order_relaxed);
  if (due == TimePoint::max()) return false;
  const TimePoint now = clock_.Now();
  if (now < due) return false;
  // Before the checks: what becomes due meanwhile lowers it again.
  checks_due_.exchange(TimePoint::max(), std::memory_order_acq_rel);
  CheckSessions(now);
  CheckMemory(now);
  CheckDrain(now);
  CheckLeases(now);
  MutexLock lock(&mu_);
  RunChecksAt(look_at_leases_at_);
  if (draining_ != nullptr && !draining_->progress.empty()) RunChecksAt(draining_->deadline);
  return true;
}

void DaemonCore::CheckSessionsAt(TimePoint when) {
  if (Lower(&sessions_due_, when)) RunChecksAt(when);
}

void DaemonCore::CheckSessions(TimePoint now) {
  const TimePoint due = sessions_due_.load(std::memory_order_relaxed);
  if (now < due) return RunChecksAt(due);
  sessions_due_.exchange(TimePoint::max(), std::memory_order_acq_rel);
  TimePoint next = TimePoint::max();
  for (const auto& session : Sessions()) next = std::min(next, session->CheckDeadlines(now));
  CheckSessionsAt(next);
}

void DaemonCore::CheckDrain(TimePoint now) {
  std::vector<ProgressCallback> callbacks;
  uint64_t left = 0;
  bool late = false, changed = false;
  {
    MutexLock lock(&mu_);
    if (draining_ == nullptr || draining_->progress.empty()) return;
    left = sessions_.size();
    late = now >= draining_->deadline;
    changed = std::exchange(draining_->reported_left, left) != left;
    callbacks = draining_->progress;
    if (left == 0 || late) draining_->progress.clear();
  }
  if (late && left > 0) {
    for (const auto& session : Sessions()) {
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
  host_work_.Add(kDaemonsWork, [callbacks = std::move(callbacks), step, left, done] {
    for (const ProgressCallback& progress : callbacks) progress(step, left, done);
  });
}

void DaemonCore::MemoryFreed() {
  const TimePoint when = clock_.Now() + kTrimDelay;
  TimePoint never = TimePoint::max();
  if (trim_due_.compare_exchange_strong(never, when)) RunChecksAt(when);
}

// The heap keeps what was freed for the next who needs it. While commands are on their way that is as well: giving it
// back takes time, and so does getting it again.
void DaemonCore::CheckMemory(TimePoint now) {
  const TimePoint due = trim_due_.load();
  if (now < due) return RunChecksAt(due);
  trim_due_ = TimePoint::max();
  bool busy = false;
  {
    MutexLock lock(&mu_);
    busy = users_.AnyUses(Resource::kWindowBytes);
  }
  if (busy) return MemoryFreed();
  host_work_.Add(kDaemonsWork, options_.trim_memory);
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
