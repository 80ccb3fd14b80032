// Starts session calls; answers ListDevices.
#include "daemon/rpc/device_service.h"

#include <utility>

#include "daemon/rpc/call_status.h"
#include "daemon/rpc/reply_conversion.h"

namespace ttfd {

grpc::ServerBidiReactor<v1::ClientMessage, v1::ServerMessage>* DeviceRpcService::Session(
    grpc::CallbackServerContext* context) {
  StatusOr<PeerIdentity> peer = callers_.Check(Role::kSubmit, *context);
  if (peer.ok()) peer->may_raise = callers_.CheckRole(Role::kAdmin, *peer).ok();
  return SessionCall::Start(environment_, context, std::move(peer));
}

grpc::ServerUnaryReactor* DeviceRpcService::ListDevices(grpc::CallbackServerContext* context,
                                                        const v1::ListDevicesRequest*,
                                                        v1::ListDevicesResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  // For who may use the card, and for who may look at the daemon.
  StatusOr<PeerIdentity> peer = callers_.Check(Role::kSubmit, *context);
  if (!peer.ok()) {
    if (!callers_.Check(Role::kObserve, *context).ok()) {
      reactor->Finish(FinishStatus(peer.status(), context));
      return reactor;
    }
  }
  for (const DeviceReply& device : environment_.service->Devices()) {
    ToProto(device, response->add_devices());
  }
  ToProto(environment_.service->Limits(), response->mutable_limits());
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace ttfd
