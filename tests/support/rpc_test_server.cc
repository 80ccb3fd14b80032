// See rpc_test_server.h.
#include "tests/support/rpc_test_server.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <utility>

namespace ttfd {

RpcTestServer::RpcTestServer(const RpcOptions& options, DaemonService* service) {
  std::string folder = ::testing::TempDir() + "/ttfd-rpc-XXXXXX";
  folder_ = mkdtemp(folder.data());
  path_ = folder_ + "/ttfd.sock";
  auto server = RpcServer::Create(options, service != nullptr ? *service : daemon_, SteadyClock());
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  server_->SetServing(true);
  UnixListener::Options listen;
  listen.path = path_;
  auto listener = UnixListener::Create(listen);
  EXPECT_TRUE(listener.ok()) << listener.status();
  listener_ = *std::move(listener);
  const Status started =
      listener_->Start([this](UniqueFd fd) { server_->AddConnection(std::move(fd)); });
  EXPECT_TRUE(started.ok()) << started;
}

RpcTestServer::~RpcTestServer() {
  listener_.reset();
  server_->Stop(std::chrono::milliseconds(100));
  server_.reset();
  std::filesystem::remove_all(folder_);
}

void RpcTestServer::OpenToEverybody() {
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  std::filesystem::permissions(path_, std::filesystem::perms(0666));
}

std::shared_ptr<grpc::Channel> RpcTestServer::Connect() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + path_, grpc::InsecureChannelCredentials(), arguments);
}

RawCall::RawCall(v1::Ttfd::Stub& stub) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  stream = stub.Session(&context);
}

bool RawCall::Greet(v1::Welcome* welcome) {
  v1::ClientMessage message;
  message.mutable_hello()->set_min_revision(1);
  message.mutable_hello()->set_max_revision(1);
  message.mutable_hello()->set_client_name("raw");
  v1::ServerMessage answer;
  if (!stream->Write(message) || !stream->Read(&answer) || !answer.has_welcome()) return false;
  if (welcome != nullptr) *welcome = answer.welcome();
  return true;
}

bool RawCall::WriteBarriers(uint32_t queue, uint64_t first_value, int count) {
  v1::ClientMessage message;
  v1::Batch* const batch = message.add_batches();
  batch->set_queue(queue);
  batch->set_first_value(first_value);
  for (int i = 0; i < count; ++i) batch->add_commands()->mutable_barrier();
  return stream->Write(message);
}

bool RawCall::ReadUntil(uint32_t queue, uint64_t value, v1::ServerMessage* seen) {
  v1::ServerMessage message;
  while (stream->Read(&message)) {
    if (seen != nullptr) seen->MergeFrom(message);
    for (const v1::QueuePosition& position : message.progress()) {
      if (position.queue() == queue && position.value() >= value) return true;
    }
  }
  return false;
}

v1::Error TrailerOf(const grpc::ClientContext& context) {
  v1::Error error;
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("ttfd-error-bin");
  if (found != trailers.end())
    error.ParseFromArray(found->second.data(), static_cast<int>(found->second.size()));
  return error;
}

}  // namespace ttfd
