// A Session call over a real connection: greeting, order, half-close, refusal, cancel, back-pressure, large output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "daemon/session/status_reason.h"
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

TEST(RpcSession, GreetsThenReportsProgressThenEndsWellAfterHalfClose) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  v1::Welcome welcome;
  ASSERT_TRUE(call.Greet(&welcome));
  EXPECT_EQ(welcome.session(), 1u);
  EXPECT_EQ(welcome.limits().message_bytes(), 4u << 20);
  EXPECT_GT(welcome.credit().commands(), 0u);
  ASSERT_TRUE(call.WriteBarriers(0, 1, 64));
  EXPECT_TRUE(call.ReadUntil(0, 64));
  call.stream->WritesDone();
  v1::ServerMessage rest;
  EXPECT_FALSE(call.stream->Read(&rest));
  EXPECT_TRUE(call.stream->Finish().ok());
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

TEST(RpcSession, HandlesHelloAndBatchesOfOneMessageInOrder) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  v1::ClientMessage message;
  message.mutable_hello()->set_max_revision(1);
  message.add_batches()->set_first_value(1);
  message.mutable_batches(0)->add_commands()->mutable_barrier();
  message.add_data()->set_payload("abc");
  message.add_cancels()->set_from_value(9);
  ASSERT_TRUE(call.stream->Write(message));
  EXPECT_TRUE(call.ReadUntil(0, 1));
  const auto session = server.daemon().session(1);
  ASSERT_TRUE(Eventually([&] { return !session->cancels().empty(); }));
  EXPECT_EQ(session->chunks().at(0).payload, "abc");
  EXPECT_EQ(session->cancels().at(0), (QueuePosition{0, 9}));
}

// Hello with a lease and, in the same message, a barrier.
v1::ClientMessage AskForLease() {
  v1::ClientMessage message;
  message.mutable_hello()->set_max_revision(1);
  message.mutable_hello()->mutable_lease()->set_wait_ms(5000);
  v1::CoreRange* const workers = message.mutable_hello()->mutable_lease()->add_workers();
  workers->set_x1(3);
  message.add_batches()->set_first_value(1);
  message.mutable_batches(0)->add_commands()->mutable_barrier();
  return message;
}

TEST(RpcSession, WelcomesWhoWaitedForALeaseAndHandlesThenWhatCameWithHello) {
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
  waiting.waiting = {2, "session 9", 1500};
  session->Say(waiting);
  v1::ServerMessage message;
  ASSERT_TRUE(call.stream->Read(&message));
  EXPECT_FALSE(message.has_welcome());
  ASSERT_EQ(message.notices_size(), 1);
  EXPECT_EQ(message.notices(0).waiting().position(), 2u);
  EXPECT_EQ(message.notices(0).waiting().holder(), "session 9");
  EXPECT_EQ(message.notices(0).waiting().expected_wait_ms(), 1500u);
  EXPECT_TRUE(session->batches().empty());
  ASSERT_TRUE(call.WriteBarriers(0, 2, 3)) << "it stays in the connection";
  session->Grant("secret");
  ASSERT_TRUE(call.stream->Read(&message));
  EXPECT_EQ(message.welcome().session(), 1u);
  ASSERT_EQ(message.notices_size(), 1);
  EXPECT_EQ(message.notices(0).lease_token(), "secret");
  EXPECT_TRUE(call.ReadUntil(0, 4));
  EXPECT_EQ(session->batches().size(), 2u);
}

TEST(RpcSession, WhoGoesAwayWhileWaitingForALeaseIsAbandoned) {
  RpcTestServer server;
  const auto stub = server.Device();
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.stream->Write(AskForLease()));
    ASSERT_NE(server.daemon().session(1), nullptr);
    call.context.TryCancel();
    call.stream->Finish();
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
  EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(TrailerOf(call.context).reason(), "DEADLINE");
}

TEST(RpcSession, RefusesWhatIsNoGreeting) {
  RpcTestServer server;
  const auto stub = server.Device();
  {
    RawCall call(*stub);
    EXPECT_TRUE(call.WriteBarriers(0, 1, 1));
    v1::ServerMessage answer;
    EXPECT_FALSE(call.stream->Read(&answer));
    EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(TrailerOf(call.context).reason(), "INVALID");
  }
  {
    RawCall call(*stub);
    call.stream->WritesDone();
    EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    v1::ClientMessage again;
    again.mutable_hello();
    ASSERT_TRUE(call.stream->Write(again));
    EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
  }
  EXPECT_EQ(server.daemon().sessions_opened(), 1u);
}

TEST(RpcSession, EndsWithTheStatusOfTheSessionAndItsReason) {
  RpcTestServer server;
  const auto stub = server.Device();
  server.daemon().RefuseOpen(WithReason(Error(StatusCode::kUnimplemented, "no leases here"),
                                        "UNSUPPORTED", "hello.attach"));
  {
    RawCall call(*stub);
    EXPECT_FALSE(call.Greet());
    const grpc::Status status = call.stream->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(), "no leases here");
    EXPECT_EQ(TrailerOf(call.context).field(), "hello.attach");
    EXPECT_EQ(TrailerOf(call.context).reason(), "UNSUPPORTED");
    EXPECT_EQ(TrailerOf(call.context).code(), grpc::StatusCode::UNIMPLEMENTED);
  }
  server.daemon().RefuseOpen(OkStatus());
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    server.daemon().session(1)->RefuseNext(InvalidArgument("a gap"));
    ASSERT_TRUE(call.WriteBarriers(0, 7, 1));
    EXPECT_EQ(call.stream->Finish().error_message(), "a gap");
    EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
  }
  {
    RawCall call(*stub);
    ASSERT_TRUE(call.Greet());
    server.daemon().session(2)->End(Error(StatusCode::kUnavailable, "the card is gone"));
    v1::ServerMessage answer;
    EXPECT_FALSE(call.stream->Read(&answer));
    EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_TRUE(TrailerOf(call.context).retryable());
  }
}

TEST(RpcSession, AbandonsTheSessionOfACancelledCall) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  server.daemon().session(1)->HoldWork();
  call.context.TryCancel();
  EXPECT_EQ(call.stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->abandoned(); }));
}

TEST(RpcSession, StopsReadingWhileTheSessionWantsNoInputAndGoesOnAfterwards) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  const auto session = server.daemon().session(1);
  session->SetWantsInput(false);
  for (uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(call.WriteBarriers(0, i + 1, 1));
  // A read that was started before takes one message; no more may follow.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(session->batches().size(), 1u);
  session->SetWantsInput(true);
  EXPECT_TRUE(call.ReadUntil(0, 8));
}

TEST(RpcSession, AFloodThatNobodyReadsHoldsUpNoOtherCallNotEvenOnItsConnection) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall flood(*stub);
  ASSERT_TRUE(flood.Greet());
  server.daemon().session(1)->SetWantsInput(false);
  constexpr uint64_t kChunks = 256;  // 64 MiB
  std::atomic<uint64_t> sent{0};
  std::atomic<bool> failed{false};
  std::thread sender([&] {
    v1::ClientMessage message;
    message.add_data()->set_payload(std::string(256 << 10, 'f'));
    for (uint64_t i = 0; i < kChunks && !failed; ++i) {
      message.mutable_data(0)->set_offset(i << 18);
      failed = !flood.stream->Write(message);
      if (!failed) ++sent;
    }
  });
  // Until it does not get any further.
  uint64_t last = 0;
  EXPECT_TRUE(Eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return std::exchange(last, sent.load()) == sent && sent > 0;
  }));
  EXPECT_LT(sent, kChunks / 4) << "what a client may have under way is bounded by gRPC";

  RawCall other(*stub);
  EXPECT_TRUE(other.Greet());
  for (uint64_t batch = 0; batch < 20; ++batch) {
    EXPECT_TRUE(other.WriteBarriers(0, batch * 64 + 1, 64));
    EXPECT_TRUE(other.ReadUntil(0, (batch + 1) * 64)) << "at once, beside a call that is held";
  }
  EXPECT_LT(sent, kChunks / 4);
  server.daemon().session(1)->SetWantsInput(true);
  sender.join();
  EXPECT_FALSE(failed);
  EXPECT_TRUE(Eventually([&] { return server.daemon().session(1)->chunks().size() == kChunks; }));
}

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
  ASSERT_TRUE(call.stream->Write(message));
  uint64_t next = 0;
  bool done = false;
  v1::ServerMessage answer;
  while (!done && call.stream->Read(&answer)) {
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

TEST(RpcSession, CutsManyErrorsIntoMessagesUnderTheLimit) {
  RpcTestServer server;
  const auto stub = server.Device();
  RawCall call(*stub);
  ASSERT_TRUE(call.Greet());
  SessionOutputBatch batch;
  constexpr size_t kErrors = 10'000;
  for (size_t i = 0; i < kErrors; ++i) {
    CommandErrorReply& error = batch.errors.emplace_back();
    error.first_value = error.last_value = i + 1;
    error.error.message = std::string(1000, 'e');
    error.error.cause = {0, 1};
  }
  batch.progress.push_back({0, kErrors});
  server.daemon().session(1)->Say(std::move(batch));
  v1::ServerMessage seen;
  EXPECT_TRUE(call.ReadUntil(0, kErrors, &seen));
  EXPECT_EQ(seen.errors_size(), static_cast<int>(kErrors));
  EXPECT_EQ(seen.errors(kErrors - 1).error().cause().value(), 1u);
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
      call.stream->WritesDone();
      v1::ServerMessage rest;
      while (call.stream->Read(&rest)) {
      }
      if (ok && call.stream->Finish().ok()) ++good;
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
