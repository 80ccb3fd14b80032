// The gRPC side of DeviceService.
#pragma once

#include "daemon/rpc/callers.h"
#include "daemon/rpc/session_call.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd {

class DeviceRpcService final
    : public v1::DeviceService::WithRawCallbackMethod_Session<
          v1::DeviceService::WithCallbackMethod_ListDevices<v1::DeviceService::Service>> {
 public:
  // Both outlive the service.
  DeviceRpcService(const SessionCallEnvironment& environment, Callers& callers)
      : environment_(environment), callers_(callers) {}

  // As bytes: they are scanned before anything is parsed, and kept as they were sent.
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* request,
                                        v1::ListDevicesResponse* response) override;

 private:
  const SessionCallEnvironment& environment_;
  Callers& callers_;
};

}  // namespace ttfd
