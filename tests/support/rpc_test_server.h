// A real gRPC front end over a fake daemon, on a socket of its own, in this process.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>

#include "daemon/rpc/rpc_server.h"
#include "daemon/rpc/unix_listener.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/support/fake_daemon_service.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd {

class RpcTestServer {
 public:
  // `service`: instead of the fake; outlives the server.
  explicit RpcTestServer(const RpcOptions& options = {}, DaemonService* service = nullptr);
  ~RpcTestServer();

  FakeDaemonService& daemon() { return daemon_; }
  RpcServer& server() { return *server_; }
  const std::string& socket_path() const { return path_; }

  void OpenToEverybody();  // other users may connect

  // A channel with a connection of its own.
  std::shared_ptr<grpc::Channel> Connect() const;
  std::unique_ptr<v1::DeviceService::Stub> Device() const {
    return v1::DeviceService::NewStub(Connect());
  }
  std::unique_ptr<v1::AdminService::Stub> Admin() const {
    return v1::AdminService::NewStub(Connect());
  }

 private:
  // Time for every name on a busy machine: an answer that has no name shows a number in its place.
  UserNames names_{SteadyClock(), {.await_budget = std::chrono::seconds(20), .look_up = {}}};
  FakeDaemonService daemon_;
  std::string folder_;
  std::string path_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<UnixListener> listener_;
};

// A Session call by its generated stub, with a deadline of 50 seconds over all of it.
struct RawCall {
  explicit RawCall(v1::DeviceService::Stub& stub);
  // Hello, and reads until Welcome. Without a session to resume after `reconnect_timeout_ms`, if that is 0.
  bool Greet(v1::Welcome* welcome = nullptr, uint32_t reconnect_timeout_ms = 0);
  // The next message of the session: with a number, and an ack of what was read.
  bool Write(v1::ClientMessage message);
  bool WriteFinish();
  // Reads one message, and acknowledges now and then.
  bool Read(v1::ServerMessage* message);
  bool WriteBarriers(uint32_t queue, uint64_t first_value, int count);
  // How the call ended. Reads what is left: gRPC gives the status of a call behind its last message only.
  grpc::Status End();
  // Reads until `queue` has come to `value`; what came before is added to `seen`.
  bool ReadUntil(uint32_t queue, uint64_t value, v1::ServerMessage* seen = nullptr);

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream;
  bool acknowledges = true;
  uint64_t sent = 0;            // messages
  uint64_t received = 0;        // messages
  uint64_t unacknowledged = 0;  // bytes received
};

// The detail of this type in the error of a call or command; unset where there is none.
template <typename Detail>
std::optional<Detail> DetailOf(const google::rpc::Status& status) {
  Detail detail;
  for (const google::protobuf::Any& any : status.details()) {
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}
template <typename Detail>
std::optional<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  return DetailOf<Detail>(details);
}
// The error's reason, or its metadata `key`; empty where there is none.
std::string ReasonOf(const grpc::Status& status);
std::string MetadataOf(const grpc::Status& status, const std::string& key);

}  // namespace ttfd
