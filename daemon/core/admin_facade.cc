// Answers to administrators.
#include "daemon/core/admin_facade.h"

#include <algorithm>
#include <map>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/core/profile_query.h"
#include "daemon/session/usage.h"

namespace ttfd {
namespace {

Status NoSuchSession(uint64_t session) {
  return WithReason(Error(StatusCode::kNotFound, "there is no session {}", session),
                    reason::kInvalid, "session");
}

}  // namespace

DevicesReply AdminFacade::ListDevices() {
  DevicesReply reply{{}, parts_.sessions.limits()};
  if (parts_.booted) reply.devices = *parts_.cards.devices();
  return reply;
}

DeviceStatusReply AdminFacade::StatusOf(const DeviceReply& device) {
  DaemonCard& card = parts_.cards.at(device.index);
  DeviceStatusReply status;
  status.device = device;
  status.stats = card.executor->stats();
  status.state = card.health.state();
  status.last_error = card.health.LastError(status.stats.launches);
  status.memory = card.resources.memory.Use();
  status.card = card.executor->reading();
  status.hardware_queues = card.executor->queue_stats();
  return status;
}

// The daemon works while one of its cards does.
DaemonState AdminFacade::StateOf(const std::vector<DeviceStatusReply>& devices) const {
  const auto any = [&devices](DeviceState state) {
    return std::any_of(devices.begin(), devices.end(),
                       [state](const DeviceStatusReply& one) { return one.state == state; });
  };
  if (any(DeviceState::kReady)) {
    return parts_.drain.active() ? DaemonState::kDraining : DaemonState::kReady;
  }
  if (any(DeviceState::kBooting)) return DaemonState::kBooting;
  return any(DeviceState::kRecovering) ? DaemonState::kRecovering : DaemonState::kFailed;
}

StatusReply AdminFacade::GetStatus() {
  StatusReply status;
  status.daemon = parts_.identity;
  for (const DeviceReply& device : *parts_.cards.devices()) {
    status.devices.push_back(StatusOf(device));
  }
  status.state = StateOf(status.devices);
  status.uptime_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.Now() - created_).count());
  status.commands_completed = parts_.sessions.commands_ended();
  status.quantum_ns = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(parts_.quantum).count());
  status.last_hang_report = parts_.hangs.last();
  status.sessions = static_cast<uint32_t>(parts_.sessions.size());
  return status;
}

std::vector<SessionInfoReply> AdminFacade::ListSessions() {
  const TimePoint now = parts_.clock.Now();
  std::vector<SessionInfoReply> infos;
  for (const auto& session : parts_.sessions.All()) infos.push_back(session->Info(now));
  return infos;
}

Status AdminFacade::TerminateSession(uint64_t session, const std::string& reason) {
  const std::shared_ptr<Session> found = parts_.sessions.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  const Status why =
      WithReason(Error(StatusCode::kAborted, "an administrator terminated the session: {}", reason),
                 reason::kCancelled);
  found->Post([why](Session& ended) { ended.End(why); });
  return OkStatus();
}

Status AdminFacade::ReleaseSession(uint64_t session) {
  const std::shared_ptr<Session> found = parts_.sessions.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  if (found->Info(parts_.clock.Now()).quarantine_reason.empty()) {
    return WithReason(
        Error(StatusCode::kFailedPrecondition, "session {} is not quarantined", session),
        reason::kInvalid, "session");
  }
  found->Post([this](Session& released) { parts_.sessions.EndQuarantine(released.uid()); });
  return OkStatus();
}

StatusOr<TimeoutsReply> AdminFacade::GetTimeouts(uint64_t session) {
  if (session == 0) return parts_.sessions.timeouts().Get();
  const std::shared_ptr<Session> found = parts_.sessions.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  return found->timeouts();
}

StatusOr<TimeoutsReply> AdminFacade::SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) {
  if (session != 0) {
    const std::shared_ptr<Session> found = parts_.sessions.Find(session);
    if (found == nullptr) return NoSuchSession(session);
    found->SetTimeouts(timeouts);
    return found->timeouts();
  }
  parts_.sessions.timeouts().Set(timeouts);
  for (const auto& found : parts_.sessions.All()) found->SetTimeouts({});
  return parts_.sessions.timeouts().Get();
}

LimitsReply AdminFacade::GetLimits() {
  LimitsReply reply;
  reply.limits = DescribeLimits(parts_.sessions.limits());
  std::map<uint32_t, std::pair<std::string, uint64_t>> users;  // name, sessions
  for (const auto& session : parts_.sessions.All()) {
    reply.usage.push_back(session->LimitUsage());
    auto& [name, sessions] = users[session->uid()];
    name = session->user();
    ++sessions;
  }
  for (const auto& [uid, known] : users) {
    LimitUsageReply uses;
    uses.scope = LimitScope::kUser;
    uses.uid = uid;
    uses.user = known.first;
    uses.uses = parts_.sessions.UseOf(uid)->Describe(parts_.sessions.limits());
    uses.uses.push_back(
        {"sessions_per_user", parts_.sessions.limits().sessions_per_user, known.second});
    uses.uses.push_back(
        {"leases_per_user", parts_.sessions.limits().leases_per_user, parts_.leases.CountOf(uid)});
    reply.usage.push_back(std::move(uses));
  }
  return reply;
}

Status AdminFacade::Profile(const ProfileQuery& query,
                            std::shared_ptr<const std::atomic<bool>> cancelled,
                            std::function<void(StatusOr<ProfileResult>)> done) {
  RETURN_IF_ERROR(parts_.cards.Check(query.device, "device"));
  DaemonCard& card = parts_.cards.at(query.device);
  ASSIGN_OR_RETURN(Profiler::Request request,
                   ProfileRequestOf(query, card.resources.description.grid));
  request.cancelled = std::move(cancelled);
  request.done = std::move(done);
  card.executor->RequestProfile(std::move(request));
  return OkStatus();
}

Status AdminFacade::ResetDevice(uint32_t device, std::function<void(const Status&)> done) {
  RETURN_IF_ERROR(parts_.cards.Check(device, "device"));
  parts_.cards.at(device).executor->RequestReset(std::move(done));
  return OkStatus();
}

}  // namespace ttfd
