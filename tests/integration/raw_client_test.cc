// The main job against the real daemon by a client that knows only the .proto files: generated code and gRPC.
// (The daemon is started by tests/support; what speaks to it here includes no header of the project.)
#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "tests/support/daemon_process.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace v1 = ttfd::v1;

namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

class RawClient {
 public:
  explicit RawClient(const std::string& socket)
      : stub_(v1::DeviceService::NewStub(ConnectTo(socket))) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    stream_ = stub_->Session(&context_);
    v1::ClientMessage message;
    message.mutable_hello()->set_min_revision(1);
    message.mutable_hello()->set_max_revision(1);
    message.mutable_hello()->set_client_name("from the proto alone");
    v1::ServerMessage answer;
    if (stream_->Write(message) && stream_->Read(&answer)) welcome_ = answer.welcome();
    window_ = welcome_.window_bytes();
    next_.add_open_queues();  // number 0, of device 0, for computing
  }

  const v1::Welcome& welcome() const { return welcome_; }

  // Adds a command to the batch that is sent next; returns it.
  v1::Command* Add() {
    v1::Batch* batch = next_.batches_size() > 0 ? next_.mutable_batches(0) : next_.add_batches();
    if (batch->commands_size() == 0) batch->set_first_value(last_value_ + 1);
    ++last_value_;
    return batch->add_commands();
  }
  uint64_t last_value() const { return last_value_; }
  v1::ClientMessage& next() { return next_; }
  bool Send() { return SendMessage(std::exchange(next_, v1::ClientMessage())); }
  // Sends payload for the command with `value` in pieces the daemon takes.
  bool SendData(uint64_t value, const std::string& bytes) {
    const size_t chunk = welcome_.limits().chunk_bytes();
    for (size_t at = 0; at < bytes.size(); at += chunk) {
      v1::ClientMessage message;
      v1::Data* const data = message.add_data();
      data->set_value(value);
      data->set_offset(at);
      data->set_payload(bytes.substr(at, chunk));
      if (!SendMessage(std::move(message))) return false;
    }
    return true;
  }
  // Reads until queue 0 has come to `value`.
  bool WaitFor(uint64_t value) {
    while (progress_ < value && Receive()) {
    }
    return progress_ >= value;
  }
  std::string TakeRead() { return std::exchange(read_, std::string()); }
  const std::vector<v1::CommandError>& errors() const { return errors_; }
  grpc::Status Finish() {
    v1::ClientMessage message;
    message.mutable_finish();
    SendMessage(std::move(message));
    return WaitForEnd();
  }
  // Waits until the daemon ends the call.
  grpc::Status WaitForEnd() {
    while (Receive()) {
    }
    return stream_->Finish();
  }

 private:
  // Numbers and writes a message, when the window has space for it.
  bool SendMessage(v1::ClientMessage message) {
    message.set_sequence(++sent_);
    message.set_ack(received_);
    uint64_t cost = 0;
    if (message.batches_size() != 0 || message.data_size() != 0) {
      cost = message.ByteSizeLong();
      for (const v1::Batch& batch : message.batches()) {
        cost += uint64_t{welcome_.limits().command_bytes()} *
                static_cast<uint64_t>(batch.commands_size());
      }
    }
    while (used_ + cost > window_) {
      if (!Receive()) return false;
      message.set_ack(received_);
    }
    used_ += cost;
    unacknowledged_ = 0;
    return stream_->Write(message);
  }
  // One message of the daemon; its contents are collected. False: the call has ended, or the daemon has
  // broken a rule.
  bool Receive() {
    v1::ServerMessage message;
    if (!stream_->Read(&message) || message.ack() > sent_) return false;
    window_ = std::max(window_, message.window_bytes());
    if (message.sequence() == 0) return true;
    if (message.sequence() != ++received_) return false;
    for (const v1::Data& data : message.data()) {
      if (data.offset() != read_.size()) return false;
      read_ += data.payload();
    }
    for (const v1::CommandError& error : message.errors()) errors_.push_back(error);
    for (const v1::QueuePosition& position : message.progress()) progress_ = position.value();
    unacknowledged_ += message.ByteSizeLong();
    if (unacknowledged_ < welcome_.limits().unacknowledged_bytes() / 4) return true;
    unacknowledged_ = 0;
    v1::ClientMessage ack;
    ack.set_ack(received_);
    return stream_->Write(ack);
  }

  grpc::ClientContext context_;
  std::unique_ptr<v1::DeviceService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream_;
  v1::Welcome welcome_;
  v1::ClientMessage next_;
  uint64_t sent_ = 0;  // last sequence
  uint64_t received_ = 0;
  uint64_t used_ = 0;  // of the window
  uint64_t window_ = 0;
  uint64_t unacknowledged_ = 0;  // bytes received since the last ack
  uint64_t last_value_ = 0;
  uint64_t progress_ = 0;
  std::string read_;
  std::vector<v1::CommandError> errors_;
};

// The ErrorInfo of an error.
google::rpc::ErrorInfo InfoOf(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  for (const google::protobuf::Any& detail : status.details()) {
    if (detail.UnpackTo(&info)) return info;
  }
  return info;
}

constexpr uint32_t kPageBytes = 4096;

void Allocate(RawClient& client, uint64_t handle, uint64_t bytes) {
  v1::Allocate* const allocate = client.Add()->mutable_allocate();
  allocate->set_handle(handle);
  allocate->set_size_bytes(bytes);
  allocate->set_page_bytes(kPageBytes);
  allocate->mutable_dram();
}

void LoadVectorAdd(RawClient& client, uint64_t kernel, uint64_t program) {
  const std::string elf = ReadFile(TTFD_KERNEL_FOLDER "/vector_add.elf");
  ASSERT_FALSE(elf.empty());
  v1::LoadKernel* const load = client.Add()->mutable_load_kernel();
  load->set_handle(kernel);
  load->set_size(elf.size());
  load->set_inline_(elf);
  load->set_name("vector_add");
  v1::CreateProgram* const create = client.Add()->mutable_create_program();
  create->set_handle(program);
  v1::CoreRange cores;
  cores.set_x1(client.welcome().devices(0).grid_x() - 1);
  cores.set_y1(client.welcome().devices(0).grid_y() - 1);
  v1::KernelUse* const use = create->add_kernels();
  use->set_kernel(kernel);
  use->set_processor(v1::PROCESSOR_BRISC);
  *use->add_cores() = cores;
  v1::CircularBuffer* const scratch = create->add_circular_buffers();
  scratch->set_pages(4);
  scratch->set_page_bytes(kPageBytes);
  *scratch->add_cores() = cores;
}

void Launch(RawClient& client, uint64_t program, uint32_t pages) {
  const uint32_t cores =
      client.welcome().devices(0).grid_x() * client.welcome().devices(0).grid_y();
  v1::Launch* const launch = client.Add()->mutable_launch();
  launch->set_program(program);
  v1::Arguments* const arguments = launch->add_arguments();
  for (uint32_t word : {0u, 0u, 0u, kPageBytes}) arguments->add_common(word);
  for (uint32_t word = 0; word < 3; ++word) {
    v1::BufferArgument* const buffer = arguments->add_buffers();
    buffer->set_word(word);
    buffer->set_buffer(word + 1);
  }
  arguments->set_words_per_core(2);
  for (uint32_t core = 0; core < cores; ++core) {
    const uint32_t first = pages * core / cores;
    arguments->add_per_core(first);
    arguments->add_per_core(pages * (core + 1) / cores - first);
  }
}

TEST(RawClient, AddsTwoVectorsOnTheCard) {
  ttfd::DaemonProcess daemon;
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  ASSERT_EQ(client.welcome().devices_size(), 1);
  EXPECT_EQ(client.welcome().revision(), 1u);

  constexpr uint32_t kElements = 1 << 20;
  std::string a(kElements * 4, '\0');
  std::string b(kElements * 4, '\0');
  std::string sum(kElements * 4, '\0');
  for (uint32_t i = 0; i < kElements; ++i) {
    const uint32_t left = i * 2654435761u;
    const uint32_t right = ~i * 40503u;
    const uint32_t total = left + right;
    a.replace(i * 4, 4, reinterpret_cast<const char*>(&left), 4);
    b.replace(i * 4, 4, reinterpret_cast<const char*>(&right), 4);
    sum.replace(i * 4, 4, reinterpret_cast<const char*>(&total), 4);
  }
  for (uint64_t handle : {1, 2, 3}) Allocate(client, handle, a.size());
  LoadVectorAdd(client, 4, 5);
  uint64_t writes[2];
  for (uint64_t handle : {1, 2}) {
    v1::Write* const write = client.Add()->mutable_write();
    write->set_buffer(handle);
    write->set_size(a.size());
    write->set_streamed(true);
    writes[handle - 1] = client.last_value();
  }
  Launch(client, 5, kElements * 4 / kPageBytes);
  v1::Read* const read = client.Add()->mutable_read();
  read->set_buffer(3);
  read->set_size(sum.size());
  const uint64_t last = client.last_value();
  ASSERT_TRUE(client.Send());
  ASSERT_TRUE(client.SendData(writes[0], a));
  ASSERT_TRUE(client.SendData(writes[1], b));
  ASSERT_TRUE(client.WaitFor(last)) << daemon.Log();
  for (const v1::CommandError& error : client.errors()) ADD_FAILURE() << error.ShortDebugString();
  EXPECT_TRUE(client.TakeRead() == sum) << "every element of the sum";
  EXPECT_TRUE(client.Finish().ok());
}

TEST(RawClient, LearnsWhatWasWrongAndGoesOn) {
  ttfd::DaemonProcess daemon;
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  client.Add()->mutable_read()->set_buffer(99);
  const uint64_t failed = client.last_value();
  client.Add()->mutable_barrier();
  ASSERT_TRUE(client.Send());
  ASSERT_TRUE(client.WaitFor(client.last_value()));
  ASSERT_GE(client.errors().size(), 2u);
  EXPECT_EQ(client.errors()[0].first_value(), failed);
  EXPECT_EQ(InfoOf(client.errors()[0].status()).reason(), "UNKNOWN_HANDLE");
  EXPECT_EQ(client.errors()[0].execution_state(), v1::EXECUTION_STATE_NOT_STARTED);
  EXPECT_EQ(client.errors()[1].status().code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(InfoOf(client.errors()[1].status()).metadata().at("cause_value"),
            std::to_string(failed));
  Allocate(client, 1, kPageBytes);
  client.next().mutable_batches(0)->set_clears_error(failed);
  client.Add()->mutable_read()->set_buffer(1);
  client.next().mutable_batches(0)->mutable_commands(1)->mutable_read()->set_size(64);
  ASSERT_TRUE(client.Send());
  ASSERT_TRUE(client.WaitFor(client.last_value()));
  EXPECT_EQ(client.TakeRead(), std::string(64, '\0')) << "new memory is zero";
  EXPECT_TRUE(client.Finish().ok());
}

uint32_t SessionsOf(v1::AdminService::Stub& admin) {
  grpc::ClientContext context;
  v1::ListSessionsResponse response;
  EXPECT_TRUE(admin.ListSessions(&context, {}, &response).ok());
  return static_cast<uint32_t>(response.sessions_size());
}

// What a client process that is killed leaves behind: nothing.
TEST(RawClient, ThatDiesMidWriteFreesEverything) {
  ttfd::DaemonProcess daemon;
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  const pid_t child = fork();
  if (child == 0) {
    RawClient client(daemon.socket_path());
    Allocate(client, 1, 64 << 20);
    client.Add()->mutable_write()->set_buffer(1);
    client.next().mutable_batches(0)->mutable_commands(1)->mutable_write()->set_size(64 << 20);
    client.next().mutable_batches(0)->mutable_commands(1)->mutable_write()->set_streamed(true);
    client.Send();
    client.SendData(2, std::string(1 << 20, 'x'));
    client.WaitFor(1);
    raise(SIGKILL);
  }
  const auto admin = v1::AdminService::NewStub(ConnectTo(daemon.socket_path()));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto used = [&admin] {
    grpc::ClientContext context;
    v1::DaemonStatus response;
    EXPECT_TRUE(admin->GetStatus(&context, {}, &response).ok());
    return response.devices(0).memory(0).used_bytes();
  };
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  while ((SessionsOf(*admin) > 0 || used() > 0) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(SessionsOf(*admin), 0u);
  EXPECT_EQ(used(), 0u);
}

// A write whose data is on its way: work that a drain waits for. Returns its value.
uint64_t BeginStreamedWrite(RawClient& client) {
  Allocate(client, 1, kPageBytes);
  v1::Write* const write = client.Add()->mutable_write();
  write->set_buffer(1);
  write->set_size(kPageBytes);
  write->set_streamed(true);
  EXPECT_TRUE(client.Send());
  EXPECT_TRUE(client.WaitFor(1));
  return client.last_value();
}

TEST(RawClient, Drain_WaitsForWorkOfAClient) {
  ttfd::DaemonProcess daemon;
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  const uint64_t write = BeginStreamedWrite(client);
  daemon.Signal(SIGTERM);
  EXPECT_FALSE(daemon.WaitForExit(std::chrono::milliseconds(100)).has_value())
      << "it waits for the write";
  ASSERT_TRUE(client.SendData(write, std::string(kPageBytes, 'd')));
  EXPECT_TRUE(client.WaitFor(write));
  EXPECT_TRUE(client.errors().empty());
  EXPECT_EQ(client.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(daemon.WaitForExit(), 0) << daemon.Log();
}

TEST(RawClient, AnIdleSessionDoesNotHoldUpAStop) {
  ttfd::DaemonProcess::Setup setup;
  setup.config = "[stop]\ndrain_ms = 60000\n";
  ttfd::DaemonProcess daemon(setup);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  ASSERT_GT(client.welcome().session(), 0u);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(client.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(daemon.WaitForExit(), 0) << daemon.Log();
}

TEST(RawClient, ASecondSignalEndsTheWaitForItsWork) {
  ttfd::DaemonProcess::Setup setup;
  setup.config = "[stop]\ndrain_ms = 60000\n";
  ttfd::DaemonProcess daemon(setup);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  BeginStreamedWrite(client);
  daemon.Signal(SIGTERM);
  ASSERT_TRUE(daemon.WaitForNotification("STOPPING=1"));
  EXPECT_FALSE(daemon.WaitForExit(std::chrono::milliseconds(100)).has_value());
  daemon.Signal(SIGTERM);
  const grpc::Status end = client.WaitForEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(end.error_message().find("has gone down"), std::string::npos) << end.error_message();
  EXPECT_EQ(daemon.WaitForExit(), 0) << daemon.Log();
}

TEST(RawClient, TheDrainTimeEndsTheWaitForItsWork) {
  ttfd::DaemonProcess::Setup setup;
  setup.config = "[stop]\ndrain_ms = 200\n";
  ttfd::DaemonProcess daemon(setup);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  RawClient client(daemon.socket_path());
  BeginStreamedWrite(client);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.WaitForExit(std::chrono::seconds(8)), 0) << daemon.Log();
  EXPECT_EQ(client.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(RawClient, WhatItDidIsInTheRecordAndCanBeDecoded) {
  const std::string record = ::testing::TempDir() + "/record-" + std::to_string(getpid());
  {
    ttfd::DaemonProcess::Setup setup;
    setup.arguments = {"--record", record};
    ttfd::DaemonProcess daemon(setup);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
    RawClient client(daemon.socket_path());
    Allocate(client, 1, kPageBytes);
    v1::Write* const write = client.Add()->mutable_write();
    write->set_buffer(1);
    write->set_size(64);
    write->set_inline_(std::string(64, 'w'));
    ASSERT_TRUE(client.Send());
    ASSERT_TRUE(client.WaitFor(client.last_value()));
    EXPECT_TRUE(client.Finish().ok());
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.WaitForExit(), 0) << daemon.Log();
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"decode", record}, {"decode", record, "--json"}}) {
    ttfd::DaemonProcess::Setup setup;
    setup.default_socket = false;
    setup.arguments = arguments;
    ttfd::DaemonProcess decoder(setup);
    EXPECT_EQ(decoder.WaitForExit(), 0) << decoder.Log();
    EXPECT_NE(decoder.Log().find("RELAY_INLINE"), std::string::npos) << decoder.Log();
    EXPECT_NE(decoder.Log().find("WRITE_"), std::string::npos) << decoder.Log();
  }
  unlink(record.c_str());
}

}  // namespace
