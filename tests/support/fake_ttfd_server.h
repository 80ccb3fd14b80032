// A daemon without a card, for tests of the clients: the Session stream over a real unix socket,
// every command carried out on host memory as soon as it arrives. It keeps what it saw, and it can
// be told to withhold credit, fail, hang or break off.
//
// Threads: gRPC's own serve the calls; every public function may be called from the test's thread.
#pragma once

#include <grpcpp/server.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd::testing {

// Launches with these timeouts mean something to the fake.
inline constexpr uint32_t kLaunchFails = 666;  // ends with DEVICE_FAULT
inline constexpr uint32_t kLaunchHangs = 777;  // never ends
inline constexpr uint32_t kCallBreaks = 888;   // the daemon ends the call with INTERNAL

struct FakeOptions {
  uint64_t credit_commands = 4096;
  uint64_t credit_bytes = 8 << 20;
  uint32_t inline_bytes = 64 << 10;
  uint32_t chunk_bytes = 256 << 10;
  uint32_t commands_per_batch = 4096;
  bool grant_credit = true;   // false: the credit of the welcome is all there ever is
  bool refuse_hello = false;  // the call ends UNIMPLEMENTED with an Error trailer
  uint64_t dram_bytes = 64 << 20;
};

// What a session has been seen to do.
struct FakeSeen {
  std::vector<v1::Batch> batches;  // without payload
  uint64_t messages = 0;
  uint64_t largest_message = 0;
  uint64_t largest_chunk = 0;
  uint64_t commands = 0;
  uint64_t payload_bytes = 0;
  bool over_credit = false;
  bool half_closed = false;
};

class FakeTtfdServer : public v1::Ttfd::Service, public v1::Admin::Service {
 public:
  explicit FakeTtfdServer(FakeOptions options = {});
  ~FakeTtfdServer() override;

  const std::string& address() const { return address_; }
  // Of the session that began last.
  FakeSeen seen();
  std::set<uint64_t> live_handles();
  // As if the process had been killed.
  void Kill();

 private:
  grpc::Status Session(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ServerMessage, v1::ClientMessage>* stream) override;
  grpc::Status ListDevices(grpc::ServerContext* context, const v1::ListDevicesRequest* request,
                           v1::ListDevicesResponse* response) override;
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest* request,
                         v1::GetStatusResponse* response) override;
  grpc::Status EndSession(grpc::ServerContext* context, const v1::EndSessionRequest* request,
                          v1::EndSessionResponse* response) override;
  void FillDevice(v1::Device* device) const;
  void FillLimits(v1::Limits* limits) const;

  const FakeOptions options_;
  std::string directory_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mu_;
  FakeSeen seen_;                             // guarded by mu_
  std::set<uint64_t> handles_;                // guarded by mu_
  std::map<std::string, std::string> cache_;  // kernels by hash; guarded by mu_
};

}  // namespace ttfd::testing
