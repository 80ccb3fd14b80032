// The gRPC side of service Admin: checks the caller's role, then asks the daemon.
#pragma once

#include <functional>

#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "daemon/session/service.h"
#include "ttfd/v1/admin.grpc.pb.h"

namespace ttfd {

class AdminRpcService final : public v1::Admin::CallbackService {
 public:
  // All outlive the service. `draining` is called when a drain begins.
  AdminRpcService(DaemonService& daemon, PeerTable& peers, const Roles& roles,
                  std::function<void()> draining)
      : daemon_(daemon), peers_(peers), roles_(roles), draining_(std::move(draining)) {}

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* GetTimeouts(grpc::CallbackServerContext* context,
                                        const v1::GetTimeoutsRequest* request,
                                        v1::Timeouts* response) override;
  grpc::ServerUnaryReactor* SetTimeouts(grpc::CallbackServerContext* context,
                                        const v1::SetTimeoutsRequest* request,
                                        v1::Timeouts* response) override;
  grpc::ServerUnaryReactor* EndSession(grpc::CallbackServerContext* context,
                                       const v1::EndSessionRequest* request,
                                       v1::EndSessionResponse* response) override;
  grpc::ServerWriteReactor<v1::Progress>* Drain(grpc::CallbackServerContext* context,
                                                const v1::DrainRequest* request) override;
  grpc::ServerWriteReactor<v1::Progress>* ResetDevice(
      grpc::CallbackServerContext* context, const v1::ResetDeviceRequest* request) override;
  grpc::ServerWriteReactor<v1::FilePart>* GetHangReport(
      grpc::CallbackServerContext* context, const v1::GetHangReportRequest* request) override;
  grpc::ServerWriteReactor<v1::ProfilePart>* Profile(grpc::CallbackServerContext* context,
                                                     const v1::ProfileRequest* request) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const v1::SetLogLevelRequest* request,
                                        v1::SetLogLevelResponse* response) override;

 private:
  Status Check(Role role, grpc::CallbackServerContext* context);
  // Role, then `action`, then the call's end.
  grpc::ServerUnaryReactor* Unary(Role role, grpc::CallbackServerContext* context,
                                  const std::function<Status()>& action);

  DaemonService& daemon_;
  PeerTable& peers_;
  const Roles& roles_;
  const std::function<void()> draining_;
};

}  // namespace ttfd
