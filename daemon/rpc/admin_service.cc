// Each admin call: role first, then the daemon's answer as protobuf.
#include "daemon/rpc/admin_service.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/admin_streams.h"
#include "daemon/rpc/audit_arguments.h"
#include "daemon/rpc/page.h"
#include "daemon/rpc/status_methods.h"
#include "runtime/base/log.h"
#include "runtime/base/utf8.h"
#include "ttfd/v1/admin.grpc.pb.h"

namespace ttfd {
namespace {

// Shown to the client of a session that is terminated, and logged.
constexpr size_t kMaxReasonBytes = 1024;

// Calls that read hang reports or wait to: each has a thread.
constexpr int kMaxReads = 32;

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

template <typename Request>
void AdminRpcService::Add(Methods* methods, Role role, const char* name, Begin<Request> begin) {
  (*methods)[fmt::format("/{}/{}", v1::AdminService::service_full_name(), name)] =
      ReplyCall::Method<Request>(request_timeout_, [this, role, name, begin = std::move(begin)](
                                                       ReplyCall& call, const Request& request) {
        Action action;
        const Status allowed = Check(role, call.context(), name, request, &action);
        if (!allowed.ok()) return call.End(allowed);
        begin(call, request, action);
      });
}

template <typename Request, typename Response>
void AdminRpcService::AddUnary(Methods* methods, Role role, const char* name,
                               Act<Request, Response> act) {
  Add<Request>(methods, role, name,
               [this, role, act](ReplyCall& call, const Request& request, const Action& action) {
                 Response response;
                 const Status status = (this->*act)(request, &response);
                 if (role == Role::kAdmin) audit_->Ended(action, status);
                 if (status.ok()) call.Reply(response);
                 call.End(status);
               });
}

void AdminRpcService::AddTo(Methods* methods) {
  const auto add = [this, methods](Role role, const char* name, auto act) {
    AddUnary(methods, role, name, act);
  };
  add(Role::kObserve, "ListSessions", &AdminRpcService::ListSessions);
  add(Role::kObserve, "ListLeases", &AdminRpcService::ListLeases);
  add(Role::kObserve, "GetLimits", &AdminRpcService::GetLimits);
  add(Role::kObserve, "GetTimeouts", &AdminRpcService::GetTimeouts);
  add(Role::kAdmin, "SetTimeouts", &AdminRpcService::SetTimeouts);
  add(Role::kAdmin, "TerminateSession", &AdminRpcService::TerminateSession);
  add(Role::kAdmin, "ReleaseSession", &AdminRpcService::ReleaseSession);
  add(Role::kAdmin, "Undrain", &AdminRpcService::Undrain);
  add(Role::kAdmin, "SetLogLevel", &AdminRpcService::SetLogLevel);
  Add<v1::GetStatusRequest>(
      methods, Role::kObserve, "GetStatus",
      [this](ReplyCall& call, const auto&, const Action&) { SendStatus(call, daemon_); });
  Add<v1::WatchStatusRequest>(methods, Role::kObserve, "WatchStatus",
                              [this](ReplyCall& call, const auto& request, const Action&) {
                                WatchStatus(call, daemon_, request);
                              });
  using std::bind_front;
  Add<v1::GetHangReportRequest>(methods, Role::kObserve, "GetHangReport",
                                bind_front(&AdminRpcService::GetHangReport, this));
  Add<v1::ListHangReportsRequest>(methods, Role::kObserve, "ListHangReports",
                                  bind_front(&AdminRpcService::ListHangReports, this));
  Add<v1::DrainRequest>(methods, Role::kAdmin, "Drain", bind_front(&AdminRpcService::Drain, this));
  Add<v1::ResetDeviceRequest>(methods, Role::kAdmin, "ResetDevice",
                              bind_front(&AdminRpcService::ResetDevice, this));
  Add<v1::ProfileRequest>(methods, Role::kAdmin, "Profile",
                          bind_front(&AdminRpcService::Profile, this));
}

Status AdminRpcService::Check(Role role, const grpc::GenericServerContext& context,
                              std::string_view name, const google::protobuf::Message& request,
                              Action* action) {
  const StatusOr<PeerIdentity> identified = callers_.Identify(context);
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

void AdminRpcService::ReadFiles(ReplyCall& call, std::function<void()> read) {
  if (reads_ == kMaxReads) {
    return call.End(Error(StatusCode::kUnavailable,
                          "{} calls wait for the disk of the hang reports; ask again later",
                          kMaxReads));
  }
  ++reads_;
  reading_ = std::async(std::launch::async,
                        [this, before = std::move(reading_), read = std::move(read)]() mutable {
                          if (before.valid()) before.get();
                          read();
                          --reads_;
                        });
}

Status AdminRpcService::ListSessions(const v1::ListSessionsRequest& request,
                                     v1::ListSessionsResponse* response) {
  ASSIGN_OR_RETURN(const PageRequest page, PageOf(request));
  response->set_next_page_token(TakePage(
      daemon_.ListSessions(), page,
      [](const SessionInfoReply& session) { return PageKey(session.session); },
      [&](const auto& session) { ToProto(session, response->add_sessions()); }));
  return OkStatus();
}

Status AdminRpcService::ListLeases(const v1::ListLeasesRequest& request,
                                   v1::ListLeasesResponse* response) {
  ASSIGN_OR_RETURN(const PageRequest page, PageOf(request));
  response->set_next_page_token(TakePage(
      daemon_.ListLeases(), page, [](const LeaseInfoReply& lease) { return PageKey(lease.lease); },
      [&](const auto& lease) { ToProto(lease, response->add_leases()); }));
  return OkStatus();
}

Status AdminRpcService::GetLimits(const v1::GetLimitsRequest& request,
                                  v1::GetLimitsResponse* response) {
  ASSIGN_OR_RETURN(const PageRequest page, PageOf(request));
  LimitsReply limits = daemon_.GetLimits();
  callers_.DescribeConnections(&limits);
  if (page.token.empty()) {
    for (const LimitInfoReply& limit : limits.limits) ToProto(limit, response->add_limits());
  }
  response->set_next_page_token(
      TakePage(std::move(limits.usage), page, UsageKey,
               [&](const auto& usage) { ToProto(usage, response->add_usage()); }));
  return OkStatus();
}

Status AdminRpcService::GetTimeouts(const v1::GetTimeoutsRequest& request, v1::Timeouts* response) {
  ASSIGN_OR_RETURN(const TimeoutsReply timeouts, daemon_.GetTimeouts(request.session()));
  ToProto(timeouts, response);
  return OkStatus();
}

Status AdminRpcService::SetTimeouts(const v1::SetTimeoutsRequest& request, v1::Timeouts* response) {
  ASSIGN_OR_RETURN(const TimeoutsReply wanted, TimeoutsFromProto(request.timeouts()));
  ASSIGN_OR_RETURN(const TimeoutsReply timeouts, daemon_.SetTimeouts(request.session(), wanted));
  ToProto(timeouts, response);
  return OkStatus();
}

Status AdminRpcService::TerminateSession(const v1::TerminateSessionRequest& request,
                                         v1::TerminateSessionResponse*) {
  RETURN_IF_ERROR(CheckReason(request.reason()));
  return daemon_.TerminateSession(request.session(), request.reason());
}

Status AdminRpcService::ReleaseSession(const v1::ReleaseSessionRequest& request,
                                       v1::ReleaseSessionResponse*) {
  return daemon_.ReleaseSession(request.session());
}

Status AdminRpcService::Undrain(const v1::UndrainRequest&, v1::UndrainResponse*) {
  RETURN_IF_ERROR(daemon_.Undrain());
  set_serving_(true);
  return OkStatus();
}

Status AdminRpcService::SetLogLevel(const v1::SetLogLevelRequest& request,
                                    v1::SetLogLevelResponse*) {
  const char* const level = LevelName(request.level());
  if (level != nullptr && ttfd::SetLogLevel(level)) return OkStatus();
  return ToStatus(UnsupportedError("level", "a level is debug, info, warning or error"));
}

void AdminRpcService::GetHangReport(ReplyCall& call, const v1::GetHangReportRequest& request,
                                    const Action&) {
  const HangReportId id = request.has_report() ? HangReportId(request.report()) : std::nullopt;
  ReadFiles(call, [this, id, post = call.poster()] {
    post([files = daemon_.GetHangReport(id)](ReplyCall& live) mutable {
      if (!files.ok()) return live.End(files.status());
      SendFiles(live, *std::move(files));
    });
  });
}

void AdminRpcService::ListHangReports(ReplyCall& call, const v1::ListHangReportsRequest& request,
                                      const Action&) {
  const StatusOr<PageRequest> page = PageOf(request);
  if (!page.ok()) return call.End(page.status());
  ReadFiles(call, [this, page = *page, post = call.poster()] {
    StatusOr<std::vector<HangSummary>> reports = daemon_.ListHangReports();
    const Status status = reports.status();
    v1::ListHangReportsResponse response;
    if (status.ok()) {
      response.set_next_page_token(TakePage(
          *std::move(reports), page,
          [](const HangSummary& report) {
            return PageKey(std::strtoull(report.id.c_str(), nullptr, 10));
          },
          [&](const auto& report) { ToProto(report, response.add_reports()); }));
    }
    post([status, response = std::move(response)](ReplyCall& live) {
      if (status.ok()) live.Reply(response);
      live.End(status);
    });
  });
}

void AdminRpcService::Drain(ReplyCall& call, const v1::DrainRequest& request,
                            const Action& action) {
  audit_->Started(action);
  set_serving_(false);
  daemon_.Drain(request.within_ms(), [report = StreamProgress(call), audit = audit_,
                                      action](const ProgressReply& progress) {
    if (progress.done) audit->Ended(action, OkStatus());
    report(progress);
  });
}

void AdminRpcService::ResetDevice(ReplyCall& call, const v1::ResetDeviceRequest& request,
                                  const Action& action) {
  audit_->Started(action);
  const Admin::ProgressCallback report = StreamProgress(call);
  const Status accepted = daemon_.ResetDevice(
      request.device(),
      [report, post = call.poster(), audit = audit_, action](const Status& status) {
        audit->Ended(action, status);
        if (status.ok()) return report({ProgressStep::kReset, 0, true});
        post([status](ReplyCall& live) { live.End(status); });
      });
  if (accepted.ok()) return report({ProgressStep::kResetting});  // nothing if it has ended
  audit_->Ended(action, accepted);
  call.End(accepted);
}

void AdminRpcService::Profile(ReplyCall& call, const v1::ProfileRequest& request,
                              const Action& action) {
  audit_->Started(action);
  ProfileQuery query;
  query.device = request.device();
  query.duration_ms = request.duration_ms();
  query.interval_clocks = request.interval_clocks();
  query.interval_us = request.interval_us();
  query.snapshots = request.program_counters();
  query.idle = request.idle();
  for (const v1::CoreRange& range : request.cores()) {
    query.cores.push_back({range.x0(), range.y0(), range.x1(), range.y1()});
  }
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  call.on_gone = [cancelled] { cancelled->store(true); };
  const Status accepted = daemon_.Profile(
      query, cancelled,
      [post = call.poster(), audit = audit_, action](StatusOr<ProfileResult> result) {
        audit->Ended(action, result.status());
        post([result = std::move(result)](ReplyCall& live) mutable {
          if (!result.ok()) return live.End(result.status());
          SendProfile(live, *std::move(result));
        });
      });
  if (accepted.ok()) return;
  audit_->Ended(action, accepted);
  call.End(accepted);
}

}  // namespace ttfd
