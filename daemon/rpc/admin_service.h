// The gRPC side of AdminService: checks the caller's role, asks the daemon, and leaves a line in the audit trail.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/api/admin.h"
#include "daemon/rpc/audit.h"
#include "daemon/rpc/callers.h"
#include "daemon/rpc/poller.h"
#include "daemon/rpc/reply_call.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

// Poller thread, but for what reads files.
class AdminRpcService {
 public:
  // All outlive the service. `set_serving` is called with false when a drain begins, with true when it is ended.
  AdminRpcService(Admin& daemon, Callers& callers, std::shared_ptr<AuditTrail> audit,
                  std::function<void(bool)> set_serving, Duration request_timeout)
      : daemon_(daemon),
        callers_(callers),
        audit_(std::move(audit)),
        set_serving_(std::move(set_serving)),
        request_timeout_(request_timeout) {}

  // The service outlives the handlers.
  void AddTo(Methods* methods);

 private:
  using Action = AuditTrail::Action;
  template <typename Request, typename Response>
  using Act = Status (AdminRpcService::*)(const Request& request, Response* response);
  // The action is described for role admin; the method records its start and its end.
  template <typename Request>
  using Begin = std::function<void(ReplyCall& call, const Request& request, const Action& action)>;

  // Role, then `begin`.
  template <typename Request>
  void Add(Methods* methods, Role role, const char* name, Begin<Request> begin);
  // Role, then `act`, then the call's end and, of an admin's, its line.
  template <typename Request, typename Response>
  void AddUnary(Methods* methods, Role role, const char* name, Act<Request, Response> act);

  // Whether the caller may. A refusal is recorded here. Fills `action` for the line about the end of an allowed call
  // with role admin, which REQUIRES one; allowed calls that only read leave no line.
  Status Check(Role role, const grpc::GenericServerContext& context, std::string_view name,
               const google::protobuf::Message& request, Action* action);
  // Runs `read` on a thread of its own, behind those before: a disk may be slow. Ends the call if too many wait.
  void ReadFiles(ReplyCall& call, std::function<void()> read);

  Status ListSessions(const v1::ListSessionsRequest& request, v1::ListSessionsResponse* response);
  Status ListLeases(const v1::ListLeasesRequest& request, v1::ListLeasesResponse* response);
  Status GetLimits(const v1::GetLimitsRequest& request, v1::GetLimitsResponse* response);
  Status GetTimeouts(const v1::GetTimeoutsRequest& request, v1::Timeouts* response);
  Status SetTimeouts(const v1::SetTimeoutsRequest& request, v1::Timeouts* response);
  Status TerminateSession(const v1::TerminateSessionRequest& request,
                          v1::TerminateSessionResponse* response);
  Status ReleaseSession(const v1::ReleaseSessionRequest& request,
                        v1::ReleaseSessionResponse* response);
  Status Undrain(const v1::UndrainRequest& request, v1::UndrainResponse* response);
  Status SetLogLevel(const v1::SetLogLevelRequest& request, v1::SetLogLevelResponse* response);

  void Drain(ReplyCall& call, const v1::DrainRequest& request, const Action& action);
  void ResetDevice(ReplyCall& call, const v1::ResetDeviceRequest& request, const Action& action);
  void Profile(ReplyCall& call, const v1::ProfileRequest& request, const Action& action);
  void GetHangReport(ReplyCall& call, const v1::GetHangReportRequest& request,
                     const Action& action);
  void ListHangReports(ReplyCall& call, const v1::ListHangReportsRequest& request,
                       const Action& action);

  Admin& daemon_;
  Callers& callers_;
  // Shared: what takes time may end after this service.
  const std::shared_ptr<AuditTrail> audit_;
  const std::function<void(bool)> set_serving_;
  const Duration request_timeout_;
  std::atomic<int> reads_{0};  // of files, that have not ended
  std::future<void> reading_;  // the last of ReadFiles; destroyed first, which waits for its end
};

}  // namespace ttfd
