// The fake daemon: the gRPC side.
#include "tests/support/fake_ttfd_server.h"

#include <grpc/grpc.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tests/support/fake_ttfd_session.h"

namespace ttfd::testing {

FakeTtfdServer::FakeTtfdServer(FakeOptions options) : options_(options) {
  // Never shut down again: in one process with a server that can take gRPC ten seconds.
  grpc_init();
  char pattern[] = "/tmp/fake_ttfd_XXXXXX";
  directory_ = mkdtemp(pattern);
  address_ = "unix:" + directory_ + "/ttfd.sock";
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(static_cast<v1::Ttfd::Service*>(this));
  builder.RegisterService(static_cast<v1::Admin::Service*>(this));
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
  return seen_;
}

std::set<uint64_t> FakeTtfdServer::live_handles() {
  const std::lock_guard<std::mutex> lock(mu_);
  return handles_;
}

void FakeTtfdServer::FillDevice(v1::Device* device) const {
  device->set_board("p150");
  device->set_backend("fake");
  device->set_grid_x(13);
  device->set_grid_y(10);
  device->set_dram_banks(8);
  device->set_dram_alignment(64);
  device->set_transfer_alignment(4);
}

void FakeTtfdServer::FillLimits(v1::Limits* limits) const {
  limits->set_message_bytes(4 << 20);
  limits->set_chunk_bytes(options_.chunk_bytes);
  limits->set_inline_bytes(options_.inline_bytes);
  limits->set_commands_per_batch(options_.commands_per_batch);
}

grpc::Status FakeTtfdServer::Session(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::ServerMessage, v1::ClientMessage>* stream) {
  if (options_.refuse_hello) {
    v1::Error error;
    error.set_code(grpc::StatusCode::UNIMPLEMENTED);
    error.set_message("this daemon speaks revision 2 only");
    error.set_reason("UNSUPPORTED");
    error.set_field("hello.max_revision");
    context->AddTrailingMetadata("ttfd-error-bin", error.SerializeAsString());
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, error.message());
  }
  std::map<std::string, std::string> cache;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    seen_ = FakeSeen();
    cache = cache_;
  }
  FakeSession session(options_, &cache);
  v1::ClientMessage message;
  while (stream->Read(&message)) {
    v1::ServerMessage reply;
    if (message.has_hello()) {
      session.Welcome(reply.mutable_welcome());
      FillDevice(reply.mutable_welcome()->add_devices());
      FillLimits(reply.mutable_welcome()->mutable_limits());
    }
    if (message.ending() == v1::ENDING_LEAVE) {
      return grpc::Status(grpc::StatusCode::CANCELLED, "the client has left");
    }
    const bool good = session.Handle(message, &reply);
    {
      const std::lock_guard<std::mutex> lock(mu_);
      ++seen_.messages;
      seen_.largest_message = std::max<uint64_t>(seen_.largest_message, message.ByteSizeLong());
      for (const v1::Batch& batch : message.batches()) {
        seen_.commands += static_cast<uint64_t>(batch.commands_size());
        seen_.batches.push_back(batch);
        for (const v1::Command& command : batch.commands()) {
          seen_.payload_bytes +=
              command.write().inline_().size() + command.load_kernel().inline_().size();
        }
      }
      for (const v1::Data& data : message.data()) {
        seen_.payload_bytes += data.payload().size();
        seen_.largest_chunk = std::max<uint64_t>(seen_.largest_chunk, data.payload().size());
      }
      const uint64_t granted = options_.grant_credit ? seen_.messages * options_.credit_commands
                                                     : options_.credit_commands;
      seen_.over_credit = seen_.over_credit || seen_.commands > granted;
      if (options_.grant_credit) {
        reply.mutable_credit()->set_commands(seen_.commands + options_.credit_commands);
        reply.mutable_credit()->set_bytes(seen_.payload_bytes + options_.credit_bytes);
      }
      handles_ = session.handles();
      cache_ = cache;
    }
    if (!good) {
      return grpc::Status(grpc::StatusCode::INTERNAL, "the daemon has broken off");
    }
    // Payload first and apart: a message must stay below gRPC's limit.
    for (v1::Data& data : *reply.mutable_data()) {
      v1::ServerMessage piece;
      piece.add_data()->Swap(&data);
      stream->Write(piece);
    }
    reply.clear_data();
    stream->Write(reply);
  }
  const std::lock_guard<std::mutex> lock(mu_);
  seen_.half_closed = !context->IsCancelled();
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::ListDevices(grpc::ServerContext*, const v1::ListDevicesRequest*,
                                         v1::ListDevicesResponse* response) {
  FillDevice(response->add_devices());
  FillLimits(response->mutable_limits());
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                                       v1::GetStatusResponse* response) {
  response->set_version("fake");
  response->set_state("ready");
  response->set_sessions(1);
  v1::HardwareQueue* queue = response->add_hardware_queues();
  queue->set_index(1);
  queue->set_in_flight(2);
  queue->set_completed(3);
  FillDevice(response->add_devices());
  return grpc::Status::OK;
}

grpc::Status FakeTtfdServer::EndSession(grpc::ServerContext* context,
                                        const v1::EndSessionRequest* request,
                                        v1::EndSessionResponse*) {
  v1::Error error;
  error.set_code(grpc::StatusCode::NOT_FOUND);
  error.set_message("there is no session " + std::to_string(request->session()));
  error.set_reason("UNKNOWN_HANDLE");
  error.set_field("session");
  context->AddTrailingMetadata("ttfd-error-bin", error.SerializeAsString());
  return grpc::Status(grpc::StatusCode::NOT_FOUND, error.message());
}

}  // namespace ttfd::testing
