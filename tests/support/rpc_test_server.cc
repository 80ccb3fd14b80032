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
  RpcOptions with_names = options;
  if (with_names.user_names == nullptr) with_names.user_names = &names_;
  auto server =
      RpcServer::Create(with_names, service != nullptr ? *service : daemon_, SteadyClock());
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

RawCall::RawCall(v1::DeviceService::Stub& stub) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(50));
  stream = stub.Session(&context);
}

bool RawCall::Greet(v1::Welcome* welcome, uint32_t reconnect_timeout_ms) {
  v1::ClientMessage message;
  message.mutable_hello()->set_min_revision(1);
  message.mutable_hello()->set_max_revision(1);
  message.mutable_hello()->set_client_name("raw");
  message.mutable_hello()->set_reconnect_timeout_ms(reconnect_timeout_ms);
  v1::ServerMessage answer;
  if (!stream->Write(message) || !stream->Read(&answer) || !answer.has_welcome()) return false;
  if (welcome != nullptr) *welcome = answer.welcome();
  return true;
}

bool RawCall::Write(v1::ClientMessage message) {
  message.set_sequence(++sent);
  if (acknowledges) message.set_ack(received);
  return stream->Write(message);
}

bool RawCall::WriteFinish() {
  v1::ClientMessage message;
  message.mutable_finish();
  return Write(std::move(message));
}

bool RawCall::Read(v1::ServerMessage* message) {
  if (!stream->Read(message)) return false;
  if (message->sequence() != 0) received = message->sequence();
  unacknowledged += message->ByteSizeLong();
  if (!acknowledges || unacknowledged < (1 << 20)) return true;
  unacknowledged = 0;
  v1::ClientMessage ack;
  ack.set_ack(received);
  stream->Write(ack);
  return true;
}

grpc::Status RawCall::End() {
  v1::ServerMessage rest;
  while (stream->Read(&rest)) continue;
  return stream->Finish();
}

bool RawCall::WriteBarriers(uint32_t queue, uint64_t first_value, int count) {
  v1::ClientMessage message;
  v1::Batch* const batch = message.add_batches();
  batch->set_queue(queue);
  batch->set_first_value(first_value);
  for (int i = 0; i < count; ++i) batch->add_commands()->mutable_barrier();
  return Write(std::move(message));
}

bool RawCall::ReadUntil(uint32_t queue, uint64_t value, v1::ServerMessage* seen) {
  v1::ServerMessage message;
  while (Read(&message)) {
    if (seen != nullptr) seen->MergeFrom(message);
    for (const v1::QueuePosition& position : message.progress()) {
      if (position.queue() == queue && position.value() >= value) return true;
    }
  }
  return false;
}

std::string ReasonOf(const grpc::Status& status) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  return info ? info->reason() : "";
}

std::string MetadataOf(const grpc::Status& status, const std::string& key) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  if (!info) return "";
  const auto found = info->metadata().find(key);
  return found == info->metadata().end() ? "" : found->second;
}

}  // namespace ttfd
