// Each admin call: role first, then the daemon's answer as protobuf.
#include "daemon/rpc/admin_service.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/audit_arguments.h"
#include "daemon/rpc/call_status.h"
#include "daemon/rpc/files_call.h"
#include "daemon/rpc/page.h"
#include "daemon/rpc/profile_call.h"
#include "daemon/rpc/progress_call.h"
#include "daemon/rpc/status_call.h"
#include "daemon/rpc/status_watch.h"
#include "runtime/base/log.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

// Shown to the client of a session that is terminated, and logged.
constexpr size_t kMaxReasonBytes = 1024;

Status CheckReason(const std::string& text) {
  const auto invalid = [](Status status) {
    return WithReason(std::move(status), reason::kInvalid, "reason");
  };
  if (text.size() > kMaxReasonBytes) {
    return invalid(InvalidArgument("the reason has {} bytes, at most {} are allowed", text.size(),
                                   kMaxReasonBytes));
  }
  if (Printable(text) != text) {
    return invalid(InvalidArgument("the reason has control characters: '{}'", Printable(text)));
  }
  return OkStatus();
}

template <typename Request>
StatusOr<PageRequest> PageOf(const Request& request) {
  PageRequest page{request.page_size(), request.page_token()};
  RETURN_IF_ERROR(CheckPage(page));
  return page;
}

// The daemon's, then the users', then the sessions'. Hosts without a certificate share a uid.
std::string UsageKey(const LimitUsageReply& usage) {
  switch (usage.scope) {
    case LimitScope::kUser:
      return "1" + PageKey(usage.uid) + usage.user;
    case LimitScope::kSession:
      return "2" + PageKey(usage.session);
    default:
      return "0";
  }
}

const char* LevelName(v1::LogLevel level) {
  switch (level) {
    case v1::LOG_LEVEL_DEBUG:
      return "debug";
    case v1::LOG_LEVEL_INFO:
      return "info";
    case v1::LOG_LEVEL_WARNING:
      return "warning";
    case v1::LOG_LEVEL_ERROR:
      return "error";
    default:
      return nullptr;
  }
}

}  // namespace

Status AdminRpcService::Check(Role role, grpc::CallbackServerContext* context,
                              std::string_view name, const google::protobuf::Message& request,
                              AuditTrail::Action* action) {
  const StatusOr<PeerIdentity> identified = callers_.Identify(*context);
  const std::optional<PeerIdentity> peer =
      identified.ok() ? std::optional(*identified) : std::nullopt;
  Status allowed = peer ? callers_.CheckRole(role, *peer) : identified.status();
  if (!allowed.ok()) {
    audit_->Refused(
        name, peer, [&request] { return AuditArguments(request); }, allowed);
    return allowed;
  }
  if (role != Role::kAdmin) return allowed;
  Status ready = audit_->Ready();
  if (ready.ok()) *action = audit_->Describe(name, peer, AuditArguments(request));
  return ready;
}

grpc::ServerUnaryReactor* AdminRpcService::Unary(Role role, grpc::CallbackServerContext* context,
                                                 std::string_view name,
                                                 const google::protobuf::Message& request,
                                                 const std::function<Status()>& act) {
  AuditTrail::Action action;
  Status status = Check(role, context, name, request, &action);
  if (status.ok()) {
    status = act();
    if (role == Role::kAdmin) audit_->Ended(action, status);
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpcService::GetStatus(grpc::CallbackServerContext* context,
                                                     const v1::GetStatusRequest* request,
                                                     v1::DaemonStatus* response) {
  const Status allowed = Check(Role::kObserve, context, "GetStatus", *request);
  if (allowed.ok()) return StatusCall::Start(daemon_, response);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(allowed));
  return reactor;
}

grpc::ServerWriteReactor<v1::DaemonStatus>* AdminRpcService::WatchStatus(
    grpc::CallbackServerContext* context, const v1::WatchStatusRequest* request) {
  return StatusWatch::Start(daemon_, Check(Role::kObserve, context, "WatchStatus", *request),
                            *request);
}

grpc::ServerUnaryReactor* AdminRpcService::ListSessions(grpc::CallbackServerContext* context,
                                                        const v1::ListSessionsRequest* request,
                                                        v1::ListSessionsResponse* response) {
  return Unary(Role::kObserve, context, "ListSessions", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const PageRequest page, PageOf(*request));
    response->set_next_page_token(TakePage(
        daemon_.ListSessions(), page,
        [](const SessionInfoReply& session) { return PageKey(session.session); },
        [&](const auto& session) { ToProto(session, response->add_sessions()); }));
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::ListLeases(grpc::CallbackServerContext* context,
                                                      const v1::ListLeasesRequest* request,
                                                      v1::ListLeasesResponse* response) {
  return Unary(Role::kObserve, context, "ListLeases", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const PageRequest page, PageOf(*request));
    response->set_next_page_token(TakePage(
        daemon_.ListLeases(), page,
        [](const LeaseInfoReply& lease) { return PageKey(lease.lease); },
        [&](const auto& lease) { ToProto(lease, response->add_leases()); }));
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::GetLimits(grpc::CallbackServerContext* context,
                                                     const v1::GetLimitsRequest* request,
                                                     v1::GetLimitsResponse* response) {
  return Unary(Role::kObserve, context, "GetLimits", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const PageRequest page, PageOf(*request));
    LimitsReply limits = daemon_.GetLimits();
    callers_.DescribeConnections(&limits);
    if (page.token.empty()) {
      for (const LimitInfoReply& limit : limits.limits) ToProto(limit, response->add_limits());
    }
    response->set_next_page_token(
        TakePage(std::move(limits.usage), page, UsageKey,
                 [&](const auto& usage) { ToProto(usage, response->add_usage()); }));
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::GetTimeouts(grpc::CallbackServerContext* context,
                                                       const v1::GetTimeoutsRequest* request,
                                                       v1::Timeouts* response) {
  return Unary(Role::kObserve, context, "GetTimeouts", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const TimeoutsReply timeouts, daemon_.GetTimeouts(request->session()));
    ToProto(timeouts, response);
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::SetTimeouts(grpc::CallbackServerContext* context,
                                                       const v1::SetTimeoutsRequest* request,
                                                       v1::Timeouts* response) {
  return Unary(Role::kAdmin, context, "SetTimeouts", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const TimeoutsReply wanted, TimeoutsFromProto(request->timeouts()));
    ASSIGN_OR_RETURN(const TimeoutsReply timeouts, daemon_.SetTimeouts(request->session(), wanted));
    ToProto(timeouts, response);
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::TerminateSession(
    grpc::CallbackServerContext* context, const v1::TerminateSessionRequest* request,
    v1::TerminateSessionResponse*) {
  return Unary(Role::kAdmin, context, "TerminateSession", *request, [&]() -> Status {
    RETURN_IF_ERROR(CheckReason(request->reason()));
    return daemon_.TerminateSession(request->session(), request->reason());
  });
}

grpc::ServerWriteReactor<v1::Progress>* AdminRpcService::Drain(grpc::CallbackServerContext* context,
                                                               const v1::DrainRequest* request) {
  const std::shared_ptr<ProgressCall> call = ProgressCall::Create();
  AuditTrail::Action action;
  const Status allowed = Check(Role::kAdmin, context, "Drain", *request, &action);
  if (!allowed.ok()) {
    call->Refuse(allowed);
    return call.get();
  }
  audit_->Started(action);
  set_serving_(false);
  daemon_.Drain(request->within_ms(),
                [call, audit = audit_, action](const ProgressReply& progress) {
                  if (progress.done) audit->Ended(action, OkStatus());
                  call->Report(progress);
                });
  return call.get();
}

grpc::ServerUnaryReactor* AdminRpcService::Undrain(grpc::CallbackServerContext* context,
                                                   const v1::UndrainRequest* request,
                                                   v1::UndrainResponse*) {
  return Unary(Role::kAdmin, context, "Undrain", *request, [&]() -> Status {
    RETURN_IF_ERROR(daemon_.Undrain());
    set_serving_(true);
    return OkStatus();
  });
}

grpc::ServerWriteReactor<v1::Progress>* AdminRpcService::ResetDevice(
    grpc::CallbackServerContext* context, const v1::ResetDeviceRequest* request) {
  const std::shared_ptr<ProgressCall> call = ProgressCall::Create();
  AuditTrail::Action action;
  const Status allowed = Check(Role::kAdmin, context, "ResetDevice", *request, &action);
  if (!allowed.ok()) {
    call->Refuse(allowed);
    return call.get();
  }
  audit_->Started(action);
  const Status accepted =
      daemon_.ResetDevice(request->device(), [call, audit = audit_, action](const Status& status) {
        audit->Ended(action, status);
        if (status.ok()) {
          call->Report({ProgressStep::kReset, 0, true});
        } else {
          call->Refuse(status);
        }
      });
  if (accepted.ok()) {
    call->Report({ProgressStep::kResetting});  // nothing if it has ended
  } else {
    audit_->Ended(action, accepted);
    call->Refuse(accepted);
  }
  return call.get();
}

grpc::ServerWriteReactor<v1::FilePart>* AdminRpcService::GetHangReport(
    grpc::CallbackServerContext* context, const v1::GetHangReportRequest* request) {
  const Status allowed = Check(Role::kObserve, context, "GetHangReport", *request);
  return FilesCall::Start(
      allowed.ok() ? daemon_.GetHangReport(request->has_report() ? std::optional(request->report())
                                                                 : std::nullopt)
                   : StatusOr<std::vector<HangStore::File>>(allowed));
}

grpc::ServerUnaryReactor* AdminRpcService::ListHangReports(
    grpc::CallbackServerContext* context, const v1::ListHangReportsRequest* request,
    v1::ListHangReportsResponse* response) {
  return Unary(Role::kObserve, context, "ListHangReports", *request, [&]() -> Status {
    ASSIGN_OR_RETURN(const PageRequest page, PageOf(*request));
    ASSIGN_OR_RETURN(std::vector<HangSummary> reports, daemon_.ListHangReports());
    response->set_next_page_token(TakePage(
        std::move(reports), page,
        [](const HangSummary& report) {
          return PageKey(std::strtoull(report.id.c_str(), nullptr, 10));
        },
        [&](const auto& report) { ToProto(report, response->add_reports()); }));
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::ReleaseSession(grpc::CallbackServerContext* context,
                                                          const v1::ReleaseSessionRequest* request,
                                                          v1::ReleaseSessionResponse*) {
  return Unary(Role::kAdmin, context, "ReleaseSession", *request,
               [&] { return daemon_.ReleaseSession(request->session()); });
}

grpc::ServerWriteReactor<v1::ProfilePart>* AdminRpcService::Profile(
    grpc::CallbackServerContext* context, const v1::ProfileRequest* request) {
  const std::shared_ptr<ProfileCall> call = ProfileCall::Create();
  AuditTrail::Action action;
  Status accepted = Check(Role::kAdmin, context, "Profile", *request, &action);
  if (accepted.ok()) {
    audit_->Started(action);
    ProfileQuery query;
    query.duration_ms = request->duration_ms();
    query.interval_clocks = request->interval_clocks();
    query.interval_us = request->interval_us();
    query.snapshots = request->program_counters();
    query.idle = request->idle();
    for (const v1::CoreRange& range : request->cores()) {
      query.cores.push_back({range.x0(), range.y0(), range.x1(), range.y1()});
    }
    accepted = daemon_.Profile(query, call->cancelled(),
                               [call, audit = audit_, action](StatusOr<ProfileResult> result) {
                                 audit->Ended(action, result.status());
                                 call->Answer(std::move(result));
                               });
    if (!accepted.ok()) audit_->Ended(action, accepted);
  }
  if (!accepted.ok()) call->Answer(accepted);
  return call.get();
}

grpc::ServerUnaryReactor* AdminRpcService::SetLogLevel(grpc::CallbackServerContext* context,
                                                       const v1::SetLogLevelRequest* request,
                                                       v1::SetLogLevelResponse*) {
  return Unary(Role::kAdmin, context, "SetLogLevel", *request, [&]() -> Status {
    const char* const level = LevelName(request->level());
    if (level != nullptr && ttfd::SetLogLevel(level)) return OkStatus();
    return ToStatus(UnsupportedError("level", "a level is debug, info, warning or error"));
  });
}

}  // namespace ttfd
