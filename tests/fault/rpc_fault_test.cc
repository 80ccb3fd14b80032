// Clients that misbehave toward the gRPC front end: each costs itself and nobody else.
#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "tests/support/rpc_test_server.h"

namespace ttfd {
namespace {

using Code = grpc::StatusCode;

template <typename Predicate>
bool Eventually(Predicate predicate) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    if (predicate()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

UniqueFd RawConnect(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// True when the peer closed the connection within ten seconds.
bool ClosedByPeer(int fd) {
  const timeval timeout{10, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  char bytes[4096];
  ssize_t size = 0;
  while ((size = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
  }
  return size == 0 || errno == ECONNRESET;
}

// Another session, opened before, that must not notice.
class Bystander {
 public:
  explicit Bystander(RpcTestServer& server) : stub_(server.Device()), call_(*stub_) {
    EXPECT_TRUE(call_.Greet());
  }
  void ExpectUnharmed() {
    ASSERT_TRUE(call_.WriteBarriers(0, next_, 1));
    EXPECT_TRUE(call_.ReadUntil(0, next_));
    ++next_;
  }

 private:
  std::unique_ptr<v1::DeviceService::Stub> stub_;
  RawCall call_;
  uint64_t next_ = 1;
};

TEST(RpcFault, AMessageOverTheLimitEndsThatSessionAlone) {
  RpcTestServer server;
  Bystander bystander(server);
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  server.daemon().session(2)->HoldWork();
  RawCall neighbour(*stub);  // on the same connection
  ASSERT_TRUE(neighbour.Greet());
  v1::ClientMessage message;
  message.add_data()->set_payload(std::string((4 << 20) + 1, 'x'));
  call.Write(message);
  const grpc::Status refused = call.End();
  EXPECT_EQ(refused.error_code(), Code::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(),
              ::testing::HasSubstr("4194317 bytes; the limit message_bytes is 4194304"));
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(2)->abandoned(); }));
  EXPECT_TRUE(server.daemon().session(2)->chunks().empty());
  ASSERT_TRUE(neighbour.WriteBarriers(0, 1, 1));
  EXPECT_TRUE(neighbour.ReadUntil(0, 1));
  bystander.ExpectUnharmed();
}

TEST(RpcFault, AMessageFarOverTheLimitIsNotEvenReceived) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  v1::ClientMessage message;
  message.add_data()->set_payload(std::string((8 << 20) + 1, 'x'));
  call.Write(message);
  EXPECT_EQ(call.End().error_code(), Code::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.daemon().session(1)->chunks().empty());
}

TEST(RpcFault, AMessageJustUnderTheLimitIsTaken) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  v1::ClientMessage message;
  message.add_data()->set_payload(std::string((4 << 20) - 64, 'x'));
  ASSERT_TRUE(call.Write(message));
  ASSERT_TRUE(call.WriteBarriers(0, 1, 1));
  EXPECT_TRUE(call.ReadUntil(0, 1));
  EXPECT_EQ(server.daemon().session(1)->chunks().at(0).payload.size(), (4u << 20) - 64);
}

TEST(RpcFault, BytesThatAreNoHttpCloseTheirConnection) {
  RpcTestServer server;
  Bystander bystander(server);
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xFF'), std::string(24, '\0'),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(9000, '\xEE')}) {
    const UniqueFd fd = RawConnect(server.socket_path());
    send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(ClosedByPeer(fd.get())) << bytes.substr(0, 20);
  }
  bystander.ExpectUnharmed();
}

TEST(RpcFault, BytesThatAreNoProtobufEndTheirCall) {
  RpcTestServer server;
  Bystander bystander(server);
  const auto channel = server.Connect();
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto call = stub.PrepareCall(&context, "/ttfd.v1.DeviceService/Session", &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  grpc::Slice slice(std::string("\x0A\xFF\xFF\xFF\xFF\x0Fgarbage"));
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  queue.Next(&tag, &ok);
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_NE(status.error_code(), Code::OK);
  EXPECT_NE(status.error_code(), Code::DEADLINE_EXCEEDED) << "the call ended by itself";
  EXPECT_EQ(server.daemon().sessions_opened(), 1u);
  bystander.ExpectUnharmed();
}

TEST(RpcFault, UnknownMethodsAreUnimplemented) {
  RpcTestServer server;
  const auto channel = server.Connect();
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status status;
  grpc::Slice slice("");
  const auto call = stub.PrepareUnaryCall(&context, "/ttfd.v1.DeviceService/Nothing",
                                          grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  EXPECT_EQ(status.error_code(), Code::UNIMPLEMENTED);
}

TEST(RpcFault, ACallWithoutHelloIsEnded) {
  RpcOptions options;
  options.hello_timeout = std::chrono::seconds(3);  // the bystander's, too
  RpcTestServer server(options);
  Bystander bystander(server);
  const auto stub = server.Device();
  RawCall call(*stub);
  v1::ServerMessage answer;
  EXPECT_FALSE(call.stream->Read(&answer));
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), Code::DEADLINE_EXCEEDED);
  EXPECT_NE(status.error_message().find("no Hello within 3000 ms"), std::string::npos)
      << status.error_message();
  bystander.ExpectUnharmed();
}

// Its answer does not fit what the connection holds unread.
bool AskForMoreThanIsRead(RawCall& call, uint32_t reconnect_timeout_ms = 0) {
  if (!call.Greet(nullptr, reconnect_timeout_ms)) return false;
  v1::ClientMessage message;
  v1::Batch* const batch = message.add_batches();
  batch->set_first_value(1);
  batch->add_commands()->mutable_read()->set_size(64 << 20);
  return call.Write(message);
}

TEST(RpcFault, AClientThatReadsNothingIsEndedAfterItsTimeout) {
  RpcTestServer server;
  Bystander bystander(server);
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(AskForMoreThanIsRead(call));
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(2)->abandoned(); }));
  bystander.ExpectUnharmed();
  EXPECT_FALSE(call.End().ok());
}

// The status of the call waits behind the write that is not read; the session does not.
TEST(RpcFault, EndBehindAnUnreadWrite_IsNotHeldUpByIt) {
  for (const bool half_closes : {false, true}) {
    RpcTestServer server;
    const auto stub = server.Device();
    RawCall call(*stub);
    ASSERT_TRUE(AskForMoreThanIsRead(call, 60'000));
    const auto session = server.daemon().session(1);
    ASSERT_TRUE(Eventually([&] { return !session->batches().empty(); }));
    v1::ClientMessage gap;
    gap.set_sequence(77);
    gap.mutable_finish();
    ASSERT_TRUE(half_closes ? call.stream->WritesDone() : call.stream->Write(gap));
    EXPECT_TRUE(Eventually([&] { return session->abandoned(); }));
    EXPECT_EQ(session->lost(), half_closes);
  }
}

TEST(RpcFault, CompressedMessages_AreRefused) {
  RpcTestServer server;
  const auto stub = server.Device();
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    const auto stream = stub->Session(&context);
    v1::ClientMessage message;
    message.mutable_hello()->set_client_name(std::string(1 << 20, 'x'));
    stream->Write(message);
    v1::ServerMessage answer;
    EXPECT_FALSE(stream->Read(&answer));
    EXPECT_EQ(stream->Finish().error_code(), Code::UNIMPLEMENTED);
  }
}

TEST(RpcFault, AClientThatFinishesAndReadsNothingIsEndedToo) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(AskForMoreThanIsRead(call));
  const auto session = server.daemon().session(1);
  ASSERT_TRUE(Eventually([&] { return !session->batches().empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  server.daemon().Release(1);  // as when everything has been taken: only the write is left
  session->End(OkStatus());
  EXPECT_TRUE(Eventually([&] { return session->abandoned(); }));
}

TEST(RpcFault, ASessionEndedByTheDaemonDoesNotWaitForAClientThatReadsNothing) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(AskForMoreThanIsRead(call));
  const auto session = server.daemon().session(1);
  ASSERT_TRUE(Eventually([&] { return !session->batches().empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  session->End(Error(StatusCode::kAborted, "ended"));
  // Neither abandoned nor finished would leave the session with the call: both mean that the call let go of it.
  EXPECT_TRUE(Eventually([&] { return session->abandoned(); }));
}

TEST(RpcFault, AUserWithTooManyConnectionsIsRefusedTheNext) {
  RpcOptions options;
  options.connections.connections_per_user = 3;
  RpcTestServer server(options);
  Bystander bystander(server);
  std::vector<UniqueFd> flood;
  for (int i = 0; i < 50; ++i) flood.push_back(RawConnect(server.socket_path()));
  int closed = 0;
  for (size_t i = 2; i < flood.size(); ++i) closed += ClosedByPeer(flood[i].get()) ? 1 : 0;
  EXPECT_EQ(closed, 48) << "all but the bystander's and two more";
  bystander.ExpectUnharmed();
  flood.clear();
  // Closed connections make room again.
  EXPECT_TRUE(Eventually([&] {
    const auto stub = server.Device();
    RawCall call(*stub);
    return call.Greet();
  }));
}

TEST(RpcFault, ConnectionsThatComeAndGoLeaveNothingBehind) {
  RpcOptions options;
  options.connections.connections = 200;
  options.connections.connections_per_user = 200;
  RpcTestServer server(options);
  for (int i = 0; i < 1000; ++i) {
    const UniqueFd fd = RawConnect(server.socket_path());
    send(fd.get(), "PRI", 3, MSG_NOSIGNAL);
  }
  // gRPC closes a moment later than its client; then every place is free again.
  EXPECT_TRUE(Eventually([&] {
    const auto stub = server.Device();
    RawCall call(*stub);
    return call.Greet();
  }));
}

TEST(RpcFault, ClientsThatVanishMidWriteAreAbandoned) {
  RpcTestServer server;
  Bystander bystander(server);
  for (uint64_t round = 2; round < 12; ++round) {
    const auto stub = server.Device();
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    server.daemon().session(round)->HoldWork();
    ASSERT_TRUE(call.WriteBarriers(0, 1, 64));
    call.context.TryCancel();
  }
  for (uint64_t round = 2; round < 12; ++round) {
    EXPECT_TRUE(Eventually([&] { return server.daemon().session(round)->abandoned(); })) << round;
  }
  bystander.ExpectUnharmed();
}

TEST(RpcFault, AStatusOfAnyLengthAndBytesReachesTheClient) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  server.daemon().session(1)->End(Error(StatusCode::kAborted, "{}", std::string(100'000, '\xFF')));
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), Code::ABORTED) << status.error_message();
  EXPECT_EQ(status.error_message().substr(0, 3), "???");
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.message(), status.error_message());
}

TEST(RpcFault, SlowUserDatabase_HoldsUpNoCall) {
  struct Gate {
    Mutex mu;
    CondVar opened;
    bool open ABSL_GUARDED_BY(mu) = false;
  };
  const auto gate = std::make_shared<Gate>();
  UserNamesOptions slow;
  slow.await_budget = std::chrono::milliseconds(1);
  slow.look_up = [gate](uint32_t) -> std::optional<std::string> {
    const TimePoint until = SteadyClock().Now() + std::chrono::minutes(1);
    MutexLock lock(&gate->mu);
    while (!gate->open && gate->opened.WaitUntil(&gate->mu, until)) continue;
    return std::nullopt;
  };
  UserNames names(SteadyClock(), slow);
  RpcOptions options;
  options.user_names = &names;
  RpcTestServer server(options);
  const auto admin = server.Admin();
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::TerminateSessionRequest request;
    request.set_session(77);
    v1::TerminateSessionResponse response;
    EXPECT_EQ(admin->TerminateSession(&context, request, &response).error_code(), Code::NOT_FOUND);
    grpc::ClientContext limits_context;
    limits_context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::GetLimitsResponse limits;
    ASSERT_TRUE(admin->GetLimits(&limits_context, {}, &limits).ok());
    EXPECT_EQ(limits.usage(1).user(), std::to_string(geteuid()));
  }
  MutexLock lock(&gate->mu);
  gate->open = true;
  gate->opened.NotifyAll();
}

TEST(RpcFault, LinesOfGrpcAreFewAndPrintable) {
  RouteGrpcLog();
  ::testing::internal::CaptureStderr();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) gpr_log(GPR_ERROR, "client says\n\x1B[2J");
  EXPECT_TRUE(FlushLog(SteadyClock().Now() + std::chrono::seconds(20)));
  const auto took = std::chrono::steady_clock::now() - began;
  const std::string log = ::testing::internal::GetCapturedStderr();
  const auto lines = std::count(log.begin(), log.end(), '\n');
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 12 + 6 * std::chrono::duration_cast<std::chrono::seconds>(took).count())
      << "at most five lines in a second, and what was dropped";
  EXPECT_NE(log.find("client says\\n\\u001b[2J"), std::string::npos) << log;
}

TEST(RpcFault, StopEndsOpenCallsWithinItsTime) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  server.daemon().session(1)->HoldWork();
  const auto began = std::chrono::steady_clock::now();
  server.server().Stop(std::chrono::milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_FALSE(call.End().ok());
  EXPECT_TRUE(server.daemon().session(1)->abandoned());
}

}  // namespace
}  // namespace ttfd
