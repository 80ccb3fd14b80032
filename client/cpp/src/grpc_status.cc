// Channels and statuses of gRPC.
#include "client/cpp/src/grpc_status.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "client/cpp/src/convert.h"

namespace ttfd::client {
namespace {

constexpr int kFrameBytes = 1 << 20;
constexpr int kReadBytes = 256 << 10;

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Bulk data on a local socket: fewer and larger frames and reads.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadBytes);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kFrameBytes);
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
