// Starts session calls; answers ListDevices.
#include "daemon/rpc/device_service.h"

#include <string>
#include <utility>

#include "daemon/rpc/reply_call.h"
#include "daemon/rpc/reply_conversion.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd {

void DeviceRpcService::AddTo(Methods* methods) {
  const std::string service = std::string("/") + v1::DeviceService::service_full_name() + "/";
  (*methods)[service + "Session"] = [this](ServerCall& call) { return Session(call); };
  (*methods)[service + "ListDevices"] = ReplyCall::Method<v1::ListDevicesRequest>(
      environment_.hello_timeout, [this](ReplyCall& call, const v1::ListDevicesRequest&) {
        v1::ListDevicesResponse response;
        const Status status = ListDevices(call.context(), &response);
        if (status.ok()) call.Reply(response);
        call.End(status);
      });
}

std::shared_ptr<CallHandler> DeviceRpcService::Session(ServerCall& call) {
  StatusOr<PeerIdentity> peer = callers_.Check(Role::kSubmit, call.context());
  if (!peer.ok()) {
    call.Finish(peer.status());
    return nullptr;
  }
  peer->may_raise = callers_.CheckRole(Role::kAdmin, *peer).ok();
  return SessionCall::Start(environment_, call, *std::move(peer));
}

// For those who may use the card, and those who may look at the daemon.
Status DeviceRpcService::ListDevices(const grpc::ServerContextBase& context,
                                     v1::ListDevicesResponse* response) {
  const StatusOr<PeerIdentity> peer = callers_.Check(Role::kSubmit, context);
  if (!peer.ok() && !callers_.Check(Role::kObserve, context).ok()) return peer.status();
  const DevicesReply reply = environment_.stream.service->admin().ListDevices();
  for (const DeviceReply& device : reply.devices) ToProto(device, response->add_devices());
  ToProto(reply.limits, response->mutable_limits());
  return OkStatus();
}

}  // namespace ttfd
