// Starts session calls; answers ListDevices.
#include "daemon/rpc/device_service.h"

#include <utility>

#include "daemon/rpc/call_status.h"
#include "daemon/rpc/reply_conversion.h"

namespace ttfd {

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DeviceRpcService::Session(
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
      reactor->Finish(ToGrpc(peer.status()));
      return reactor;
    }
  }
  const DevicesReply reply = environment_.stream.service->admin().ListDevices();
  for (const DeviceReply& device : reply.devices) ToProto(device, response->add_devices());
  ToProto(reply.limits, response->mutable_limits());
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace ttfd
