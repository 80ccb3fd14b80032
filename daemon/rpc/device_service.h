// The gRPC side of DeviceService. Poller thread.
#pragma once

#include "daemon/rpc/callers.h"
#include "daemon/rpc/poller.h"
#include "daemon/rpc/session_call.h"

namespace ttfd {

class DeviceRpcService {
 public:
  // Both outlive the service.
  DeviceRpcService(const SessionCallEnvironment& environment, Callers& callers)
      : environment_(environment), callers_(callers) {}

  // The service outlives the handlers.
  void AddTo(Methods* methods);

 private:
  std::shared_ptr<CallHandler> Session(ServerCall& call);
  Status ListDevices(const grpc::ServerContextBase& context, v1::ListDevicesResponse* response);

  const SessionCallEnvironment& environment_;
  Callers& callers_;
};

}  // namespace ttfd
