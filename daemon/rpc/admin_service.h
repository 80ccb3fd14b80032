// The gRPC side of AdminService: checks the caller's role, asks the daemon, and leaves a line in the audit trail.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "daemon/api/admin.h"
#include "daemon/rpc/audit.h"
#include "daemon/rpc/callers.h"
#include "ttfd/v1/admin.grpc.pb.h"

namespace ttfd {

class AdminRpcService final : public v1::AdminService::CallbackService {
 public:
  // All outlive the service. `set_serving` is called with false when a drain begins, with true when it is ended.
  AdminRpcService(Admin& daemon, Callers& callers, std::shared_ptr<AuditTrail> audit,
                  std::function<void(bool)> set_serving)
      : daemon_(daemon),
        callers_(callers),
        audit_(std::move(audit)),
        set_serving_(std::move(set_serving)) {}

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::DaemonStatus* response) override;
  grpc::ServerWriteReactor<v1::DaemonStatus>* WatchStatus(
      grpc::CallbackServerContext* context, const v1::WatchStatusRequest* request) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* ListLeases(grpc::CallbackServerContext* context,
                                       const v1::ListLeasesRequest* request,
                                       v1::ListLeasesResponse* response) override;
  grpc::ServerUnaryReactor* GetLimits(grpc::CallbackServerContext* context,
                                      const v1::GetLimitsRequest* request,
                                      v1::GetLimitsResponse* response) override;
  grpc::ServerUnaryReactor* GetTimeouts(grpc::CallbackServerContext* context,
                                        const v1::GetTimeoutsRequest* request,
                                        v1::Timeouts* response) override;
  grpc::ServerUnaryReactor* SetTimeouts(grpc::CallbackServerContext* context,
                                        const v1::SetTimeoutsRequest* request,
                                        v1::Timeouts* response) override;
  grpc::ServerUnaryReactor* TerminateSession(grpc::CallbackServerContext* context,
                                             const v1::TerminateSessionRequest* request,
                                             v1::TerminateSessionResponse* response) override;
  grpc::ServerWriteReactor<v1::Progress>* Drain(grpc::CallbackServerContext* context,
                                                const v1::DrainRequest* request) override;
  grpc::ServerUnaryReactor* Undrain(grpc::CallbackServerContext* context,
                                    const v1::UndrainRequest* request,
                                    v1::UndrainResponse* response) override;
  grpc::ServerWriteReactor<v1::Progress>* ResetDevice(
      grpc::CallbackServerContext* context, const v1::ResetDeviceRequest* request) override;
  grpc::ServerWriteReactor<v1::FilePart>* GetHangReport(
      grpc::CallbackServerContext* context, const v1::GetHangReportRequest* request) override;
  grpc::ServerUnaryReactor* ListHangReports(grpc::CallbackServerContext* context,
                                            const v1::ListHangReportsRequest* request,
                                            v1::ListHangReportsResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseSession(grpc::CallbackServerContext* context,
                                           const v1::ReleaseSessionRequest* request,
                                           v1::ReleaseSessionResponse* response) override;
  grpc::ServerWriteReactor<v1::ProfilePart>* Profile(grpc::CallbackServerContext* context,
                                                     const v1::ProfileRequest* request) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const v1::SetLogLevelRequest* request,
                                        v1::SetLogLevelResponse* response) override;

 private:
  // Whether the caller may. A refusal is recorded here. Fills `action` for the line about the end of an allowed call
  // with role admin, which REQUIRES one; allowed calls that only read leave no line.
  Status Check(Role role, grpc::CallbackServerContext* context, std::string_view name,
               const google::protobuf::Message& request, AuditTrail::Action* action = nullptr);
  // Role, then `act`, then the call's end and, of an admin's, its line.
  grpc::ServerUnaryReactor* Unary(Role role, grpc::CallbackServerContext* context,
                                  std::string_view name, const google::protobuf::Message& request,
                                  const std::function<Status()>& act);

  Admin& daemon_;
  Callers& callers_;
  // Shared: what takes time may end after this service.
  const std::shared_ptr<AuditTrail> audit_;
  const std::function<void(bool)> set_serving_;
};

}  // namespace ttfd
