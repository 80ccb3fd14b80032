// A real gRPC front end over a fake daemon, on a socket of its own, in this process.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "daemon/rpc/rpc_server.h"
#include "daemon/rpc/unix_listener.h"
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
  std::unique_ptr<v1::Ttfd::Stub> Device() const { return v1::Ttfd::NewStub(Connect()); }
  std::unique_ptr<v1::Admin::Stub> Admin() const { return v1::Admin::NewStub(Connect()); }

 private:
  FakeDaemonService daemon_;
  std::string folder_;
  std::string path_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<UnixListener> listener_;
};

// A Session call by its generated stub, with a deadline of ten seconds over all of it.
struct RawCall {
  explicit RawCall(v1::Ttfd::Stub& stub);
  // Hello, and reads until Welcome.
  bool Greet(v1::Welcome* welcome = nullptr);
  bool WriteBarriers(uint32_t queue, uint64_t first_value, int count);
  // Reads until `queue` has come to `value`; what came before is added to `seen`.
  bool ReadUntil(uint32_t queue, uint64_t value, v1::ServerMessage* seen = nullptr);

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream;
};

// The Error in the trailer of a call that has ended.
v1::Error TrailerOf(const grpc::ClientContext& context);

}  // namespace ttfd
