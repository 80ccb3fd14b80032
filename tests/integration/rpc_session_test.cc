// A Session call over a real connection: greeting, order, finish, loss, resume, refusal, cancel, acks, large output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "daemon/api/status_reason.h"
#include "tests/support/rpc_test_server.h"

namespace ttfd {
namespace {

template <typename Predicate>
bool Eventually(Predicate predicate) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (predicate()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(RpcSession, GreetsThenReportsProgressThenFinishes) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  v1::Welcome welcome;
  ASSERT_TRUE(call.Greet(&welcome));
  EXPECT_EQ(welcome.session(), 1u);
  EXPECT_EQ(welcome.limits().message_bytes(), 4u << 20);
  EXPECT_EQ(welcome.limits().command_bytes(), kCommandBytes);
  EXPECT_EQ(welcome.limits().nested_messages(), 131072u);
  EXPECT_EQ(welcome.limits().unacknowledged_bytes(), 4u << 20);
  EXPECT_EQ(welcome.limits().reconnect_timeout_ms(), 300'000u);
  EXPECT_GT(welcome.window_bytes(), 0u);
  ASSERT_TRUE(call.WriteBarriers(0, 1, 64));
  EXPECT_TRUE(call.ReadUntil(0, 64));
  ASSERT_TRUE(call.WriteFinish());
  v1::ServerMessage rest;
  while (call.stream->Read(&rest)) EXPECT_EQ(rest.sequence(), 0u) << "acks alone";
  EXPECT_TRUE(call.End().ok());
  const auto session = server.daemon().session(1);
  ASSERT_EQ(session->batches().size(), 1u);
  EXPECT_EQ(session->batches()[0].commands.size(), 64u);
  EXPECT_TRUE(session->input_finished());
  EXPECT_FALSE(session->abandoned()) << "a session that ended by itself is not abandoned";
}

TEST(RpcSession, KnowsTheProcessBehindTheConnection) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  const PeerIdentity peer = server.daemon().session(1)->peer();
  EXPECT_EQ(peer.uid, getuid());
  EXPECT_EQ(peer.gid, getgid());
  EXPECT_EQ(peer.pid, static_cast<uint32_t>(getpid()));
  EXPECT_GT(peer.connection, 0u);
  const auto other_stub = server.Device();
  RawCall other(*other_stub);
  ASSERT_TRUE(other.Greet());
  EXPECT_NE(server.daemon().session(2)->peer().connection, peer.connection);
}

TEST(RpcSession, Messages_MayFollowHelloAtOnce) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  v1::ClientMessage hello;
  hello.mutable_hello()->set_max_revision(1);
  ASSERT_TRUE(call.stream->Write(hello));
  v1::ClientMessage message;
  message.add_open_queues()->set_queue(3);
  message.add_batches()->set_first_value(1);
  message.mutable_batches(0)->add_commands()->mutable_barrier();
  message.add_data()->set_payload("abc");
  message.add_cancels()->set_from_value(9);
  ASSERT_TRUE(call.Write(message));
  EXPECT_TRUE(call.ReadUntil(0, 1));
  const auto session = server.daemon().session(1);
  EXPECT_EQ(session->open_queues().at(0).queue, 3u);
  EXPECT_EQ(session->chunks().at(0).payload, "abc");
  EXPECT_EQ(session->cancels().at(0), (QueuePosition{0, 9}));
}

// ---- Leases.

v1::ClientMessage AskForLease() {
  v1::ClientMessage message;
  message.mutable_hello()->set_max_revision(1);
  message.mutable_hello()->mutable_lease()->set_wait_ms(5000);
  v1::CoreRange* const workers = message.mutable_hello()->mutable_lease()->add_workers();
  workers->set_x1(3);
  return message;
}

TEST(RpcSession, LeaseWait_ReadsNothingUntilGranted) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.stream->Write(AskForLease()));
  const auto session = server.daemon().session(1);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->hello().lease.wait_ms, 5000u);
  ASSERT_EQ(session->hello().lease.workers.size(), 1u);
  EXPECT_EQ(session->hello().lease.workers[0].x1, 3u);
  SessionOutputBatch waiting;
  waiting.has_waiting = true;
  waiting.waiting = {2, {{{9, "other", "ann", 1000, 7}}, 0}, 1500};
  session->Say(waiting);
  v1::ServerMessage message;
  ASSERT_TRUE(call.stream->Read(&message));
  EXPECT_FALSE(message.has_welcome());
  EXPECT_EQ(message.sequence(), 0u);
  ASSERT_EQ(message.notices_size(), 1);
  EXPECT_EQ(message.notices(0).waiting().position(), 2u);
  EXPECT_EQ(message.notices(0).waiting().holders(0).session(), 9u);
  EXPECT_EQ(message.notices(0).waiting().expected_wait_ms(), 1500u);
  ASSERT_TRUE(call.WriteBarriers(0, 1, 3)) << "it stays in the connection";
  session->Say(waiting);
  ASSERT_TRUE(call.stream->Read(&message));
  EXPECT_EQ(session->messages(), 0u);
  session->Grant("secret");
  ASSERT_TRUE(call.stream->Read(&message));
  EXPECT_EQ(message.welcome().session(), 1u);
  EXPECT_EQ(message.welcome().lease_token(), "secret");
  EXPECT_EQ(message.sequence(), 0u);
  EXPECT_TRUE(call.ReadUntil(0, 3));
  EXPECT_EQ(session->batches().size(), 1u);
}

TEST(RpcSession, WhoGoesAwayWhileWaitingForALeaseIsAbandoned) {
  RpcTestServer server;
  const auto stub = server.Device();
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.stream->Write(AskForLease()));
    ASSERT_NE(server.daemon().session(1), nullptr);
    call.context.TryCancel();
    call.End();
  }
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
  EXPECT_TRUE(server.daemon().session(1)->batches().empty());
}

TEST(RpcSession, AWaitThatIsGivenUpEndsTheCall) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.stream->Write(AskForLease()));
  const auto session = server.daemon().session(1);
  ASSERT_NE(session, nullptr);
  session->End(WithReason(Error(StatusCode::kDeadlineExceeded, "number 3"), "DEADLINE"));
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(ReasonOf(status), "DEADLINE");
}

// ---- Refusals.

TEST(RpcSession, FirstMessage_MustBeHelloAlone) {
  RpcTestServer server;
  const auto stub = server.Device();
  {
    RawCall call(*stub);
    EXPECT_TRUE(call.WriteBarriers(0, 1, 1));
    v1::ServerMessage answer;
    EXPECT_FALSE(call.stream->Read(&answer));
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ReasonOf(status), "INVALID");
    EXPECT_EQ(MetadataOf(status, "field"), "hello");
  }
  {
    RawCall call(*stub);
    v1::ClientMessage message = AskForLease();
    message.add_batches();
    ASSERT_TRUE(call.stream->Write(message));
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  {
    RawCall call(*stub);
    call.stream->WritesDone();
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  EXPECT_EQ(server.daemon().sessions_opened(), 0u);
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    v1::ClientMessage again;
    again.mutable_hello();
    ASSERT_TRUE(call.Write(again));
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
    EXPECT_FALSE(server.daemon().session(1)->lost()) << "it is not kept for a resume";
  }
}

TEST(RpcSession, GapInSequences_LosesTheSession) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet(nullptr, 1000));
  ++call.sent;
  ASSERT_TRUE(call.WriteBarriers(0, 1, 1));
  const grpc::Status status = call.End();
  EXPECT_EQ(ReasonOf(status), "SESSION_LOST");
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
  EXPECT_FALSE(server.daemon().session(1)->lost());
  EXPECT_EQ(server.daemon().session(1)->messages(), 0u);
}

TEST(RpcSession, MessageOverALimit_NamesTheLimit) {
  RpcTestServer server;
  const auto stub = server.Device();
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    v1::ClientMessage message;
    message.add_data()->set_payload(std::string((4 << 20) + 1, 'x'));
    ASSERT_TRUE(call.Write(message));
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(MetadataOf(status, "limit"), "message_bytes");
  }
  {
    v1::ClientMessage message;
    v1::Launch* const launch = message.add_batches()->add_commands()->mutable_launch();
    for (int i = 0; i < 1'900'000; ++i) launch->add_arguments();
    RawCall call(*stub);  // its time begins here
    ASSERT_TRUE(call.Greet());
    ASSERT_TRUE(call.Write(std::move(message)));
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(MetadataOf(status, "limit"), "nested_messages");
  }
}

TEST(RpcSession, EndsWithTheStatusOfTheSessionAndItsReason) {
  RpcTestServer server;
  const auto stub = server.Device();
  server.daemon().RefuseOpen(WithReason(Error(StatusCode::kUnimplemented, "no leases here"),
                                        "UNSUPPORTED", "hello.attach"));
  {
    RawCall call(*stub);
    EXPECT_FALSE(call.Greet());
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(), "no leases here");
    EXPECT_EQ(MetadataOf(status, "field"), "hello.attach");
    EXPECT_EQ(ReasonOf(status), "UNSUPPORTED");
  }
  server.daemon().RefuseOpen(OkStatus());
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    server.daemon().session(1)->RefuseNext(InvalidArgument("a gap"));
    ASSERT_TRUE(call.WriteBarriers(0, 7, 1));
    EXPECT_EQ(call.End().error_message(), "a gap");
    EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
  }
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    server.daemon().session(2)->End(Error(StatusCode::kUnavailable, "the card is gone"));
    v1::ServerMessage answer;
    EXPECT_FALSE(call.stream->Read(&answer));
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  }
}

TEST(RpcSession, AbandonsTheSessionOfACancelledCall) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  server.daemon().session(1)->HoldWork();
  call.context.TryCancel();
  EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
}

// ---- The end of a stream.

TEST(RpcSession, EndOfStreamWithoutFinish_IsALoss) {
  RpcTestServer server;
  const auto stub = server.Device();
  for (const uint32_t timeout_ms : {0u, 1000u}) {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet(nullptr, timeout_ms));
    const auto session = server.daemon().session(server.daemon().sessions_opened());
    session->HoldWork();
    call.stream->WritesDone();
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
    EXPECT_TRUE(Eventually([&] { return session->abandoned(); }));
    EXPECT_TRUE(session->lost()) << "the session decides whether it is kept";
    EXPECT_FALSE(session->input_finished());
  }
}

TEST(RpcSession, Finish_WithoutATimeoutNeedsNoAcks) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  call.acknowledges = false;
  ASSERT_TRUE(call.Greet());
  ASSERT_TRUE(call.WriteBarriers(0, 1, 1));
  ASSERT_TRUE(call.WriteFinish());
  call.stream->WritesDone();
  EXPECT_TRUE(call.ReadUntil(0, 1));
  EXPECT_TRUE(call.End().ok());
  EXPECT_FALSE(server.daemon().session(1)->abandoned());
}

TEST(RpcSession, Finish_WithATimeoutWaitsForAcks) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  call.acknowledges = false;
  ASSERT_TRUE(call.Greet(nullptr, 1000));
  ASSERT_TRUE(call.WriteBarriers(0, 1, 1));
  EXPECT_TRUE(call.ReadUntil(0, 1));
  ASSERT_TRUE(call.WriteFinish());
  v1::ServerMessage message;
  ASSERT_TRUE(call.stream->Read(&message)) << "the ack of Finish";
  EXPECT_EQ(message.ack(), 2u);
  v1::ClientMessage ack;
  ack.set_ack(call.received);
  ASSERT_TRUE(call.stream->Write(ack));
  while (call.stream->Read(&message)) continue;
  EXPECT_TRUE(call.End().ok());
}

TEST(RpcSession, EndOfStreamBeforeTheLastAck_IsALoss) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  call.acknowledges = false;
  ASSERT_TRUE(call.Greet(nullptr, 1000));
  ASSERT_TRUE(call.WriteBarriers(0, 1, 1));
  ASSERT_TRUE(call.WriteFinish());
  call.stream->WritesDone();
  EXPECT_TRUE(call.ReadUntil(0, 1));
  EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
  const auto session = server.daemon().session(1);
  EXPECT_TRUE(Eventually([&] { return session->abandoned() && session->lost(); }));
}

TEST(RpcSession, Leave_EndsTheCallCancelled) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet(nullptr, 1000));
  v1::ClientMessage message;
  message.mutable_leave();
  ASSERT_TRUE(call.Write(message));
  EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(server.daemon().session(1)->left());
}

// ---- Acknowledgements.

TEST(RpcSession, Acks_AreSentWithoutOtherOutput) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  v1::ClientMessage message;
  message.add_data()->set_payload("abc");
  ASSERT_TRUE(call.Write(message));
  ASSERT_TRUE(call.Write(message));
  v1::ServerMessage answer;
  uint64_t acked = 0;
  while (acked < 2 && call.stream->Read(&answer)) {
    EXPECT_EQ(answer.sequence(), 0u);
    acked = answer.ack();
  }
  EXPECT_EQ(acked, 2u);
}

TEST(RpcSession, WithoutAcks_OutputStopsAndTheClientIsEnded) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  call.acknowledges = false;
  ASSERT_TRUE(call.Greet(nullptr, 60'000));
  v1::ClientMessage message;
  message.add_batches()->set_first_value(1);
  message.mutable_batches(0)->add_commands()->mutable_read()->set_size(16 << 20);
  ASSERT_TRUE(call.Write(message));
  v1::ServerMessage answer;
  uint64_t bytes = 0;
  while (call.Read(&answer)) {
    for (const v1::Data& data : answer.data()) bytes += data.payload().size();
    EXPECT_EQ(answer.progress_size(), 0);
  }
  EXPECT_GE(bytes, 4u << 20);
  EXPECT_LE(bytes, 6u << 20);
  EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
  const auto session = server.daemon().session(1);
  EXPECT_TRUE(Eventually([&] { return session->abandoned(); })) << "after stalled_client_ms, 4 s";
  EXPECT_FALSE(session->lost()) << "it is not kept for its reconnect timeout";
}

// ---- Output.

TEST(RpcSession, SendsLargeReadsInMessagesUnderTheLimitAndProgressLast) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  v1::ClientMessage message;
  v1::Batch* const batch = message.add_batches();
  batch->set_first_value(1);
  constexpr uint64_t kBytes = 9'000'001;
  batch->add_commands()->mutable_read()->set_size(kBytes);
  ASSERT_TRUE(call.Write(message));
  uint64_t next = 0;
  bool done = false;
  v1::ServerMessage answer;
  while (!done && call.Read(&answer)) {
    EXPECT_LT(answer.ByteSizeLong(), 4u << 20);
    for (const v1::Data& data : answer.data()) {
      ASSERT_EQ(data.offset(), next);
      ASSERT_EQ(data.payload().front(), static_cast<char>(next));
      next += data.payload().size();
    }
    done = answer.progress_size() > 0;
  }
  EXPECT_TRUE(done);
  EXPECT_EQ(next, kBytes);
}

TEST(RpcSession, ServesManyCallsOnOneConnectionAtOnce) {
  RpcTestServer server;
  const auto stub = server.Device();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      RawCall call(*stub);
      bool ok = call.Greet();
      for (uint64_t batch = 0; ok && batch < 200; ++batch) {
        ok = call.WriteBarriers(0, batch * 64 + 1, 64) &&
             (batch % 10 != 9 || call.ReadUntil(0, (batch + 1) * 64));
      }
      call.WriteFinish();
      v1::ServerMessage rest;
      while (call.Read(&rest)) {
      }
      if (ok && call.End().ok()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

TEST(RpcSession, ListsDevicesWithoutASession) {
  RpcTestServer server;
  const auto stub = server.Device();
  grpc::ClientContext context;
  v1::ListDevicesResponse response;
  ASSERT_TRUE(stub->ListDevices(&context, {}, &response).ok());
  ASSERT_EQ(response.devices_size(), 1);
  EXPECT_EQ(response.devices(0).board(), "p150");
  EXPECT_EQ(response.devices(0).grid_x(), 13u);
  EXPECT_EQ(response.devices(0).transfer_alignment(), 16u);
  EXPECT_EQ(response.limits().commands_per_batch(), 4096u);
}

}  // namespace
}  // namespace ttfd
