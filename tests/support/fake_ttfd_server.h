// The fake daemon behind gRPC on a unix socket: the Session stream of a FakeDaemon, and scripted answers of
// the admin service.
//
// Threads: gRPC's own serve the calls; every public function may be called from the test's thread.
#pragma once

#include <grpcpp/server.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fake_ttfd_daemon.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd::testing {

class FakeTtfdServer : public v1::DeviceService::Service, public v1::AdminService::Service {
 public:
  explicit FakeTtfdServer(FakeOptions options = {});
  ~FakeTtfdServer() override;

  const std::string& address() const { return address_; }
  // Of the session that began last.
  FakeSeen seen();
  std::set<uint64_t> live_handles();
  // As if the process had been killed.
  void Kill();

  // ---- The admin service. Lists have this many entries, in pages of `page`.
  void SetList(uint32_t entries, uint32_t page);
  uint32_t pages_served();
  // WatchStatus sends these states, one after the other, and then waits for the call's end.
  void SetStates(std::vector<v1::DaemonState> states);
  std::vector<std::string> admin_calls();  // what was called that changes something

 private:
  grpc::Status Session(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ServerMessage, v1::ClientMessage>* stream) override;
  grpc::Status ListDevices(grpc::ServerContext* context, const v1::ListDevicesRequest* request,
                           v1::ListDevicesResponse* response) override;
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest* request,
                         v1::DaemonStatus* response) override;
  grpc::Status WatchStatus(grpc::ServerContext* context, const v1::WatchStatusRequest* request,
                           grpc::ServerWriter<v1::DaemonStatus>* writer) override;
  grpc::Status ListSessions(grpc::ServerContext* context, const v1::ListSessionsRequest* request,
                            v1::ListSessionsResponse* response) override;
  grpc::Status GetLimits(grpc::ServerContext* context, const v1::GetLimitsRequest* request,
                         v1::GetLimitsResponse* response) override;
  grpc::Status GetTimeouts(grpc::ServerContext* context, const v1::GetTimeoutsRequest* request,
                           v1::Timeouts* response) override;
  grpc::Status SetTimeouts(grpc::ServerContext* context, const v1::SetTimeoutsRequest* request,
                           v1::Timeouts* response) override;
  grpc::Status TerminateSession(grpc::ServerContext* context,
                                const v1::TerminateSessionRequest* request,
                                v1::TerminateSessionResponse* response) override;
  grpc::Status ReleaseSession(grpc::ServerContext* context,
                              const v1::ReleaseSessionRequest* request,
                              v1::ReleaseSessionResponse* response) override;
  grpc::Status Undrain(grpc::ServerContext* context, const v1::UndrainRequest* request,
                       v1::UndrainResponse* response) override;
  void FillStatus(v1::DaemonState state, v1::DaemonStatus* status);
  // Entries of one page, from a token; sets the next one.
  std::vector<uint32_t> Page(const std::string& token, std::string* next);

  std::string directory_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mu_;
  FakeDaemon daemon_;  // guarded by mu_, as the following
  uint32_t entries_ = 0;
  uint32_t page_ = 1;
  uint32_t pages_served_ = 0;
  std::vector<v1::DaemonState> states_ = {v1::DAEMON_STATE_READY};
  std::vector<std::string> admin_calls_;
};

}  // namespace ttfd::testing
