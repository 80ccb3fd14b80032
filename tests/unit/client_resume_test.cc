// How a session survives lost connections: every command executed once, every result reported once.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_resume_test {
namespace {

using std::chrono::milliseconds;
using ttfd::testing::FakeOptions;
using ttfd::testing::FakeSeen;
using ttfd::testing::FakeTtfdServer;

class ClientResume : public ::testing::Test {
 protected:
  void Connect(FakeOptions script, ConnectOptions options = {}) {
    server_ = std::make_unique<FakeTtfdServer>(script);
    options.address = server_->address();
    options.call_timeout = std::min(options.call_timeout, milliseconds(10'000));
    Result<Session> session = Session::Connect(options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = std::make_unique<Session>(std::move(*session));
  }
  // Messages 1 and 2: an allocation, and a fill and a read of it.
  void ExpectWork() {
    Result<Buffer> buffer = session_->AllocateDram(4096);
    ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
    const std::vector<std::byte> bytes(4096, std::byte{5});
    ASSERT_TRUE(session_->queue().EnqueueWrite(*buffer, 0, bytes).ok());
    std::vector<std::byte> back(4096);
    const Status read = session_->queue().Read(*buffer, 0, back);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(back, bytes);
  }

  std::unique_ptr<FakeTtfdServer> server_;
  std::unique_ptr<Session> session_;
};

TEST_F(ClientResume, LostMessage_IsResent) {
  Connect({.faults = {.break_before = 2}});
  ExpectWork();
  EXPECT_EQ(session_->reconnects(), 1u);
  const FakeSeen seen = server_->seen();
  EXPECT_EQ(seen.sequences, (std::vector<uint64_t>{1, 2, 2}));
  ASSERT_EQ(seen.hellos.size(), 2u);
  EXPECT_EQ(seen.hellos[1].resume().session(), session_->id());
  EXPECT_EQ(seen.hellos[1].resume().received(), 1u);
}

TEST_F(ClientResume, LostReplies_AreReceivedOnce) {
  Connect({.faults = {.break_after = 2}});
  uint64_t progress = 0;
  session_->OnProgress([&](Position) { ++progress; });
  ExpectWork();
  EXPECT_EQ(session_->reconnects(), 1u);
  EXPECT_EQ(server_->seen().sequences, (std::vector<uint64_t>{1, 2}))
      << "nothing is executed twice";
  EXPECT_EQ(progress, 1u);
}

TEST_F(ClientResume, Duplicates_AreDropped) {
  Connect({.faults = {.break_after = 3, .resend_everything = true}});
  uint64_t progress = 0;
  session_->OnProgress([&](Position) { ++progress; });
  ExpectWork();
  const Result<Position> last = session_->queue().EnqueueBarrier();
  ASSERT_TRUE(session_->queue().Wait(*last).ok());
  EXPECT_EQ(session_->reconnects(), 1u);
  EXPECT_EQ(progress, 2u);
}

TEST_F(ClientResume, EverythingUnacknowledged_IsResentInOrder) {
  Connect({.faults = {.break_before = 9, .withhold_acks = true}});
  Result<Buffer> buffer = session_->AllocateDram(1 << 20);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> bytes(64, std::byte{1});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session_->queue().Write(*buffer, 0, bytes).ok());
  }
  EXPECT_EQ(session_->reconnects(), 1u);
  // The daemon has accepted 8 messages, which Welcome acknowledges; only the ninth is resent.
  std::vector<uint64_t> expected;
  for (uint64_t sequence = 1; sequence <= 21; ++sequence) {
    expected.insert(expected.end(), sequence == 9 ? 2 : 1, sequence);
  }
  EXPECT_EQ(server_->seen().sequences, expected);
}

TEST_F(ClientResume, StreamedPayload_ContinuesAfterLoss) {
  Connect({.faults = {.break_before = 7}});
  const std::vector<std::byte> bytes(8 << 20, std::byte{9});
  Result<Buffer> buffer = session_->AllocateDram(bytes.size());
  ASSERT_TRUE(session_->queue().Write(*buffer, 0, bytes).ok());
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(session_->queue().Read(*buffer, 0, back).ok());
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(session_->reconnects(), 1u);
  EXPECT_EQ(server_->seen().payload_bytes, bytes.size()) << "each chunk was accepted once";
}

TEST_F(ClientResume, BackgroundThread_ResumesUnasked) {
  Connect({.faults = {.break_after = 1}}, {.background_thread = true});
  EXPECT_TRUE(session_->AllocateDram(64).ok());
  EXPECT_EQ(session_->reconnects(), 1u);
}

TEST_F(ClientResume, Gap_EndsSession) {
  Connect({.faults = {.skip_sequence = 1}});
  const Result<Position> lost = session_->queue().EnqueueBarrier();
  EXPECT_EQ(session_->queue().Wait(*lost, milliseconds(50)).code(), Code::kDeadlineExceeded)
      << "its answer is missing and nothing follows";
  const Result<Position> next = session_->queue().EnqueueBarrier();
  EXPECT_EQ(session_->queue().Wait(*next, milliseconds(10'000)).code(), Code::kInternal);
  EXPECT_EQ(session_->status().code(), Code::kInternal);
}

TEST_F(ClientResume, AckOfUnsentMessage_EndsSession) {
  Connect({.faults = {.ack_too_high_at = 2}});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  EXPECT_EQ(session_->AllocateDram(64).status().code(), Code::kInternal);
  EXPECT_EQ(session_->status().code(), Code::kInternal);
}

TEST_F(ClientResume, LostSession_DescribesLossAndReopens) {
  Connect({.faults = {.break_before = 3, .lose_sessions = true}});
  Result<Buffer> a = session_->AllocateDram(64);
  Result<Buffer> b = session_->AllocateDram(64);
  ASSERT_TRUE(a.ok() && b.ok());
  const uint64_t first = session_->id();
  const Result<Position> barrier = session_->queue().EnqueueBarrier();
  const Status status = session_->queue().Wait(*barrier);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "SESSION_LOST");
  EXPECT_TRUE(status.retryable());
  EXPECT_NE(status.message().find("gone: 2 buffers, 0 kernels, 0 programs, 0 traces, 1 command "
                                  "without an answer"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(session_->AllocateDram(64).ok());
  EXPECT_NE(session_->id(), first);
}

TEST_F(ClientResume, MessageThatBreaksEveryConnection_IsGivenUp) {
  Connect({.faults = {.break_twice_before = 2}}, {.reconnect_timeout = milliseconds(300)});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  const Status status = session_->AllocateDram(64).status();
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  EXPECT_LE(server_->seen().hellos.size(), 20u) << "in growing intervals";
}

TEST_F(ClientResume, ReconnectTimeout_IsCutToDaemonLimit) {
  Connect({.reconnect_timeout_ms = 0, .faults = {.break_before = 2}});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  EXPECT_EQ(session_->AllocateDram(64).status().reason(), "CONNECTION_LOST");
  EXPECT_EQ(server_->seen().hellos.size(), 1u);
}

TEST_F(ClientResume, NoReconnectTimeout_EndsWithConnection) {
  Connect({.faults = {.break_before = 2}}, {.reconnect_timeout = milliseconds(0)});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  EXPECT_EQ(session_->AllocateDram(64).status().reason(), "CONNECTION_LOST");
}

TEST_F(ClientResume, Finish_IsResent) {
  Connect({.faults = {.break_before = 2}});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  ASSERT_TRUE(session_->queue().EnqueueBarrier().ok());
  const Status status = session_->Close();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(server_->seen().finished);
  EXPECT_EQ(session_->reconnects(), 1u);
}

TEST_F(ClientResume, Finish_AcceptedBeforeLossEndsWell) {
  Connect({.faults = {.break_after = 2}});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  ASSERT_TRUE(session_->queue().EnqueueBarrier().ok());
  const Status status = session_->Close();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(session_->queue().completed(), 1u);
}

TEST_F(ClientResume, Destruction_SendsLeaveOnNewConnection) {
  Connect({.faults = {.break_before = 2}});
  ASSERT_TRUE(session_->AllocateDram(64).ok());
  session_.reset();
  EXPECT_TRUE(server_->seen().left);
  EXPECT_TRUE(server_->seen().ended);
  EXPECT_EQ(server_->seen().hellos.size(), 2u);
}

TEST_F(ClientResume, Destruction_SendsLeave) {
  for (const bool resumable : {false, true}) {
    Connect({}, {.reconnect_timeout = std::chrono::seconds(resumable ? 20 : 0)});
    ASSERT_TRUE(session_->AllocateDram(64).ok());
    session_.reset();
    EXPECT_TRUE(server_->seen().left);
    EXPECT_TRUE(server_->seen().ended);
  }
}

TEST_F(ClientResume, LeaseWaits_PrecedeWelcome) {
  std::vector<uint32_t> positions;
  ConnectOptions options = {.lease = LeaseOptions{}};
  options.on_waiting = [&](const LeaseWait& wait) { positions.push_back(wait.position); };
  Connect({.faults = {.wait_notices = 3}}, options);
  EXPECT_EQ(positions, (std::vector<uint32_t>{3, 2, 1}));
  EXPECT_TRUE(session_->AllocateDram(64).ok());
}

}  // namespace
}  // namespace ttfd::client::client_resume_test
