// The fake daemon behind gRPC.
#include "tests/support/fake_ttfd_server.h"

#include <grpc/grpc.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ttfd::testing {
namespace {

grpc::Status ToGrpc(const google::rpc::Status& status) {
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const bool detailed = status.details_size() != 0;
  return {code, status.message(), detailed ? status.SerializeAsString() : ""};
}

}  // namespace

FakeTtfdServer::FakeTtfdServer(FakeOptions options) : daemon_(options) {
  // Never shut down again: in one process with a server that can take gRPC ten seconds.
  grpc_init();
  char pattern[] = "/tmp/fake_ttfd_XXXXXX";
  directory_ = mkdtemp(pattern);
  address_ = "unix:" + directory_ + "/ttfd.sock";
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(static_cast<v1::DeviceService::Service*>(this));
  builder.RegisterService(static_cast<v1::AdminService::Service*>(this));
  server_ = builder.BuildAndStart();
}

FakeTtfdServer::~FakeTtfdServer() {
  Kill();
  unlink((directory_ + "/ttfd.sock").c_str());
  rmdir(directory_.c_str());
}

void FakeTtfdServer::Kill() {
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }
}

FakeSeen FakeTtfdServer::seen() {
  const std::lock_guard<std::mutex> lock(mu_);
  return daemon_.seen();
}

std::set<uint64_t> FakeTtfdServer::live_handles() {
  const std::lock_guard<std::mutex> lock(mu_);
  return daemon_.handles();
}

void FakeTtfdServer::SetList(uint32_t entries, uint32_t page) {
  const std::lock_guard<std::mutex> lock(mu_);
  entries_ = entries;
  page_ = page;
}

uint32_t FakeTtfdServer::pages_served() {
  const std::lock_guard<std::mutex> lock(mu_);
  return pages_served_;
}

void FakeTtfdServer::SetStates(std::vector<v1::DaemonState> states) {
  const std::lock_guard<std::mutex> lock(mu_);
  states_ = std::move(states);
}

std::vector<std::string> FakeTtfdServer::admin_calls() {
  const std::lock_guard<std::mutex> lock(mu_);
  return admin_calls_;
}

grpc::Status FakeTtfdServer::Session(
    grpc::ServerContext*, grpc::ServerReaderWriter<v1::ServerMessage, v1::ClientMessage>* stream) {
  FakeDaemon::Call call(&daemon_);
  v1::ClientMessage message;
  while (stream->Read(&message)) {
    FakeReplies replies;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      replies = call.Handle(message);
    }
    for (const v1::ServerMessage& reply : replies.messages) {
      stream->Write(reply);
    }
    if (replies.end) {
      return ToGrpc(*replies.end);
    }
  }
  const std::lock_guard<std::mutex> lock(mu_);
  call.HandleLoss();
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the connection is lost");
}

grpc::Status FakeTtfdServer::ListDevices(grpc::ServerContext*, const v1::ListDevicesRequest*,
                                         v1::ListDevicesResponse* response) {
  const std::lock_guard<std::mutex> lock(mu_);
  daemon_.FillDevices(response->mutable_devices());
  daemon_.FillLimits(response->mutable_limits());
  return grpc::Status::OK;
}

void FakeTtfdServer::FillStatus(v1::DaemonState state, v1::DaemonStatus* status) {
  status->set_version("fake");
  status->set_state(state);
  status->set_sessions(1);
  google::protobuf::RepeatedPtrField<v1::Device> devices;
  daemon_.FillDevices(&devices);
  for (v1::Device& device : devices) *status->add_devices()->mutable_device() = std::move(device);
  v1::HardwareQueue* queue = status->mutable_devices(0)->add_hardware_queues();
  queue->set_index(1);
  queue->set_in_flight(2);
  queue->set_completed(3);
}

grpc::Status FakeTtfdServer::GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                                       v1::DaemonStatus* response) {
  const std::lock_guard<std::mutex> lock(mu_);
  FillStatus(states_.front(), response);
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::WatchStatus(grpc::ServerContext* context,
                                         const v1::WatchStatusRequest* request,
                                         grpc::ServerWriter<v1::DaemonStatus>* writer) {
  std::vector<v1::DaemonState> states;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    admin_calls_.push_back("watch every " + std::to_string(request->interval_ms()) + " ms");
    states = states_;
  }
  for (const v1::DaemonState state : states) {
    v1::DaemonStatus status;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      FillStatus(state, &status);
    }
    writer->Write(status);
  }
  while (!context->IsCancelled()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return grpc::Status(grpc::StatusCode::CANCELLED, "the watch has ended");
}

std::vector<uint32_t> FakeTtfdServer::Page(const std::string& token, std::string* next) {
  ++pages_served_;
  const uint32_t first = token.empty() ? 0 : static_cast<uint32_t>(std::stoul(token));
  std::vector<uint32_t> entries;
  for (uint32_t i = first; i < std::min(first + page_, entries_); ++i) {
    entries.push_back(i);
  }
  if (first + page_ < entries_) {
    *next = std::to_string(first + page_);
  }
  return entries;
}

grpc::Status FakeTtfdServer::ListSessions(grpc::ServerContext*,
                                          const v1::ListSessionsRequest* request,
                                          v1::ListSessionsResponse* response) {
  const std::lock_guard<std::mutex> lock(mu_);
  for (const uint32_t i : Page(request->page_token(), response->mutable_next_page_token())) {
    v1::SessionInfo* info = response->add_sessions();
    info->set_session(i + 1);
    info->set_state(v1::SESSION_STATE_DETACHED);
    info->set_priority(v1::PRIORITY_HIGH);
    if (i % 2 == 0) {
      info->set_pid(100 + i);
      info->set_lease(i);
    }
  }
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::GetLimits(grpc::ServerContext*, const v1::GetLimitsRequest* request,
                                       v1::GetLimitsResponse* response) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (request->page_token().empty()) {
    v1::LimitInfo* limit = response->add_limits();
    limit->set_name("handles");
    limit->set_scope(v1::LIMIT_SCOPE_SESSION);
  }
  for (const uint32_t i : Page(request->page_token(), response->mutable_next_page_token())) {
    v1::LimitUsage* usage = response->add_usage();
    usage->set_scope(v1::LIMIT_SCOPE_SESSION);
    usage->set_session(i + 1);
  }
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::GetTimeouts(grpc::ServerContext*,
                                         const v1::GetTimeoutsRequest* request,
                                         v1::Timeouts* response) {
  if (request->has_session()) {
    response->set_kernel_ms(static_cast<uint32_t>(request->session()));
  }
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::SetTimeouts(grpc::ServerContext*,
                                         const v1::SetTimeoutsRequest* request,
                                         v1::Timeouts* response) {
  *response = request->timeouts();
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::TerminateSession(grpc::ServerContext*,
                                              const v1::TerminateSessionRequest* request,
                                              v1::TerminateSessionResponse*) {
  return ToGrpc(FakeError(kNotFound, "UNKNOWN_HANDLE",
                          "there is no session " + std::to_string(request->session()),
                          {{"field", "session"}}));
}

grpc::Status FakeTtfdServer::ReleaseSession(grpc::ServerContext*,
                                            const v1::ReleaseSessionRequest* request,
                                            v1::ReleaseSessionResponse*) {
  const std::lock_guard<std::mutex> lock(mu_);
  admin_calls_.push_back("release " + std::to_string(request->session()));
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::Undrain(grpc::ServerContext*, const v1::UndrainRequest*,
                                     v1::UndrainResponse*) {
  const std::lock_guard<std::mutex> lock(mu_);
  admin_calls_.push_back("undrain");
  return grpc::Status::OK;
}

}  // namespace ttfd::testing
