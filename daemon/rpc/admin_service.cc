// Each admin call: role first, then the daemon's answer as protobuf.
#include "daemon/rpc/admin_service.h"

#include <google/protobuf/util/json_util.h>

#include <memory>
#include <optional>
#include <string>

#include "daemon/rpc/call_status.h"
#include "daemon/rpc/files_call.h"
#include "daemon/rpc/profile_call.h"
#include "daemon/rpc/progress_call.h"
#include "daemon/rpc/reply_conversion.h"
#include "runtime/base/log.h"

namespace ttfd {
namespace {

// What was asked for, as the API names it.
std::string JsonOf(const google::protobuf::Message& request) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto made = google::protobuf::util::MessageToJsonString(request, &json, options);
  return made.ok() ? json : "null";
}

}  // namespace

Status AdminRpcService::Check(Role role, grpc::CallbackServerContext* context,
                              std::string_view name, const google::protobuf::Message& request,
                              AuditTrail::Action* action) {
  const StatusOr<PeerIdentity> peer = callers_.Identify(*context);
  Status allowed = peer.ok() ? callers_.CheckRole(role, *peer) : peer.status();
  if (allowed.ok() && role != Role::kAdmin) return allowed;
  const AuditTrail::Action tried =
      audit_->Describe(name, peer.ok() ? std::optional(*peer) : std::nullopt, JsonOf(request));
  if (!allowed.ok()) {
    audit_->Refused(tried, allowed);
    return allowed;
  }
  if (action != nullptr) *action = tried;
  return audit_->Ready();
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
  reactor->Finish(FinishStatus(status, context));
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpcService::GetStatus(grpc::CallbackServerContext* context,
                                                     const v1::GetStatusRequest* request,
                                                     v1::GetStatusResponse* response) {
  return Unary(Role::kObserve, context, "GetStatus", *request, [&] {
    ToProto(daemon_.GetStatus(), response);
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::ListSessions(grpc::CallbackServerContext* context,
                                                        const v1::ListSessionsRequest* request,
                                                        v1::ListSessionsResponse* response) {
  return Unary(Role::kObserve, context, "ListSessions", *request, [&] {
    for (const SessionInfoReply& session : daemon_.ListSessions()) {
      ToProto(session, response->add_sessions());
    }
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::ListLeases(grpc::CallbackServerContext* context,
                                                      const v1::ListLeasesRequest* request,
                                                      v1::ListLeasesResponse* response) {
  return Unary(Role::kObserve, context, "ListLeases", *request, [&] {
    for (const LeaseInfoReply& lease : daemon_.ListLeases()) ToProto(lease, response->add_leases());
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::GetLimits(grpc::CallbackServerContext* context,
                                                     const v1::GetLimitsRequest* request,
                                                     v1::GetLimitsResponse* response) {
  return Unary(Role::kObserve, context, "GetLimits", *request, [&] {
    LimitsReply limits = daemon_.GetLimits();
    callers_.DescribeConnections(&limits);
    ToProto(limits, response);
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
    ASSIGN_OR_RETURN(
        const TimeoutsReply timeouts,
        daemon_.SetTimeouts(request->session(), TimeoutsFromProto(request->timeouts())));
    ToProto(timeouts, response);
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::EndSession(grpc::CallbackServerContext* context,
                                                      const v1::EndSessionRequest* request,
                                                      v1::EndSessionResponse*) {
  return Unary(Role::kAdmin, context, "EndSession", *request,
               [&] { return daemon_.EndSession(request->session(), request->reason()); });
}

grpc::ServerWriteReactor<v1::Progress>* AdminRpcService::Drain(grpc::CallbackServerContext* context,
                                                               const v1::DrainRequest* request) {
  const std::shared_ptr<ProgressCall> call = ProgressCall::Create(context);
  AuditTrail::Action action;
  const Status allowed = Check(Role::kAdmin, context, "Drain", *request, &action);
  if (!allowed.ok()) {
    call->Refuse(allowed);
    return call.get();
  }
  audit_->Started(action);
  draining_();
  daemon_.Drain(request->within_ms(),
                [call, audit = audit_, action](const std::string& step, uint64_t left, bool done) {
                  if (done) audit->Ended(action, OkStatus());
                  call->Report(step, left, done);
                });
  return call.get();
}

grpc::ServerWriteReactor<v1::Progress>* AdminRpcService::ResetDevice(
    grpc::CallbackServerContext* context, const v1::ResetDeviceRequest* request) {
  const std::shared_ptr<ProgressCall> call = ProgressCall::Create(context);
  AuditTrail::Action action;
  const Status allowed = Check(Role::kAdmin, context, "ResetDevice", *request, &action);
  if (!allowed.ok()) {
    call->Refuse(allowed);
    return call.get();
  }
  audit_->Started(action);
  call->Report("resetting the card", 1, false);
  const Status accepted =
      daemon_.ResetDevice(request->device(), [call, audit = audit_, action](const Status& status) {
        audit->Ended(action, status);
        if (status.ok()) {
          call->Report("ready", 0, true);
        } else {
          call->Refuse(status);
        }
      });
  if (!accepted.ok()) {
    audit_->Ended(action, accepted);
    call->Refuse(accepted);
  }
  return call.get();
}

grpc::ServerWriteReactor<v1::FilePart>* AdminRpcService::GetHangReport(
    grpc::CallbackServerContext* context, const v1::GetHangReportRequest* request) {
  const Status allowed = Check(Role::kObserve, context, "GetHangReport", *request);
  return FilesCall::Start(allowed.ok() ? daemon_.GetHangReport(request->report())
                                       : StatusOr<std::vector<HangStore::File>>(allowed),
                          context);
}

grpc::ServerUnaryReactor* AdminRpcService::ListHangReports(
    grpc::CallbackServerContext* context, const v1::ListHangReportsRequest* request,
    v1::ListHangReportsResponse* response) {
  return Unary(Role::kObserve, context, "ListHangReports", *request, [&] {
    ASSIGN_OR_RETURN(const std::vector<HangStore::Summary> reports, daemon_.ListHangReports());
    for (const HangStore::Summary& report : reports) ToProto(report, response->add_reports());
    return OkStatus();
  });
}

grpc::ServerUnaryReactor* AdminRpcService::ResumeSession(grpc::CallbackServerContext* context,
                                                         const v1::ResumeSessionRequest* request,
                                                         v1::ResumeSessionResponse*) {
  return Unary(Role::kAdmin, context, "ResumeSession", *request,
               [&] { return daemon_.ResumeSession(request->session()); });
}

grpc::ServerWriteReactor<v1::ProfilePart>* AdminRpcService::Profile(
    grpc::CallbackServerContext* context, const v1::ProfileRequest* request) {
  const std::shared_ptr<ProfileCall> call = ProfileCall::Create(context);
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
    if (ttfd::SetLogLevel(request->level())) return OkStatus();
    return InvalidArgument("level '{}' is none of debug, info, warning, error",
                           request->level().substr(0, 64));
  });
}

}  // namespace ttfd
