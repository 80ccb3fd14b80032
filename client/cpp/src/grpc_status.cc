// Channels and statuses of gRPC.
#include "client/cpp/src/grpc_status.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "client/cpp/src/convert.h"

namespace ttfd::client {

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context,
                const std::string& address) {
  if (status.ok()) {
    return Status();
  }
  const auto& trailers = context.GetServerTrailingMetadata();
  if (const auto found = trailers.find("ttfd-error-bin"); found != trailers.end()) {
    v1::Error error;
    if (error.ParseFromArray(found->second.data(), static_cast<int>(found->second.size()))) {
      return FromProto(error);
    }
  }
  const Code code = static_cast<Code>(status.error_code());
  if (code == Code::kUnavailable) {
    return Status(ErrorInfo{
        .code = code,
        .message = "no ttfd daemon answers at " + address + " (" + status.error_message() + ")",
        .reason = "UNREACHABLE",
        .retryable = true});
  }
  return Status(code, status.error_message());
}

}  // namespace ttfd::client
