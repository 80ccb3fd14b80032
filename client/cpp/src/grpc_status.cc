// Channels and statuses of gRPC.
#include "client/cpp/src/grpc_status.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <iterator>
#include <utility>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"
#include "client/cpp/src/unix_socket.h"

namespace ttfd::client {
namespace {

constexpr int kFrameBytes = 1 << 20;
constexpr int kReadBytes = 256 << 10;

Result<std::string> ReadPem(const char* what, const char* option, const char* variable,
                            const std::string& path) {
  const auto invalid = [option](std::string message) {
    return Status(ErrorInfo{.code = Code::kInvalidArgument,
                            .message = std::move(message),
                            .reason = "INVALID",
                            .field = option});
  };
  if (path.empty()) {
    return invalid(std::string("a daemon over TCP needs certificates: no ") + what + " is set (" +
                   variable + ")");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad() || text.empty()) {
    return invalid(std::string("cannot read the ") + what + " " + path + " (" + variable + ")");
  }
  return text;
}

// Null where the files cannot be read.
std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const TlsOptions& tls, Status* problem) {
  const Result<std::string> ca = ReadPem("CA", "tls.ca", "TTFD_TLS_CA", tls.ca);
  const Result<std::string> certificate =
      ReadPem("certificate", "tls.certificate", "TTFD_TLS_CERTIFICATE", tls.certificate);
  const Result<std::string> key = ReadPem("key", "tls.key", "TTFD_TLS_KEY", tls.key);
  for (const Result<std::string>* read : {&ca, &certificate, &key}) {
    if (!read->ok()) {
      *problem = read->status();
      return nullptr;
    }
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = *ca;
  options.pem_cert_chain = *certificate;
  options.pem_private_key = *key;
  return grpc::SslCredentials(options);
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const TlsOptions& tls,
                                           Status* problem) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Bulk data on a local socket: fewer and larger frames and reads.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadBytes);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kFrameBytes);
  if (address.starts_with("unix:") || address.starts_with("unix-abstract:")) {
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  const TlsOptions resolved = ResolveTls(tls);
  if (!resolved.server_name.empty()) arguments.SetSslTargetNameOverride(resolved.server_name);
  const int keepalive_ms =
      static_cast<int>(std::clamp<int64_t>(resolved.keepalive.count(), 1, INT_MAX));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(address, TlsCredentials(resolved, problem), arguments);
}

Status FromGrpc(const grpc::Status& status, const std::string& address) {
  if (status.ok()) {
    return Status();
  }
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details()) &&
      details.code() == static_cast<int>(status.error_code())) {
    return FromProto(details);
  }
  const Code code = static_cast<Code>(status.error_code());
  if (code == Code::kUnavailable) {
    return ConnectFailure(address, status.error_message());
  }
  return Status(code, status.error_message());
}

}  // namespace ttfd::client
