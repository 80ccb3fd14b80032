// The gRPC side of service Ttfd.
#pragma once

#include "daemon/rpc/callers.h"
#include "daemon/rpc/session_call.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd {

class DeviceRpcService final : public v1::Ttfd::CallbackService {
 public:
  // Both outlive the service.
  DeviceRpcService(const SessionCallEnvironment& environment, Callers& callers)
      : environment_(environment), callers_(callers) {}

  grpc::ServerBidiReactor<v1::ClientMessage, v1::ServerMessage>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* request,
                                        v1::ListDevicesResponse* response) override;

 private:
  const SessionCallEnvironment& environment_;
  Callers& callers_;
};

}  // namespace ttfd
