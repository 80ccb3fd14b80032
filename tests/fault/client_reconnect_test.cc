// libttfd resumes its session wherever the connection breaks: every command is executed once, every result
// reported once. If the session is gone, its error lists what is gone with it.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "tests/support/reconnect_fixture.h"

namespace ttfd::client {
namespace {

using ::testing::HasSubstr;
using ttfd::testing::CutRelay;
using ttfd::testing::Pattern;

TEST_F(ClientReconnect, ACutAnywhereChangesNothing) { TryEverywhere(150); }

TEST_F(ClientReconnect, ConnectionsThatBreakAgainAndAgainStillGetItDone) {
  CutRelay relay(daemon_.address());
  Result<Session> session = Session::Connect(Options(relay));
  ASSERT_TRUE(session.ok());
  const Program bump = MakeProgram(&*session, "bump_brisc", {kCore});
  Result<Buffer> counter = session->AllocateDram(kPageBytes, {.page_bytes = kPageBytes});
  ASSERT_TRUE(counter.ok());
  relay.CutAfter(CutRelay::kToDaemon, 5000, /*again=*/true);
  relay.CutAfter(CutRelay::kToClient, 3000, /*again=*/true);
  constexpr uint32_t kLaunches = 2000;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const Result<Position> launched = session->queue().EnqueueLaunch(Add(bump, *counter, 1));
    ASSERT_TRUE(launched.ok()) << launched.status().ToString();
    // Messages shorter than what passes between two cuts.
    if (i % 16 == 0) {
      const Status status = session->queue().Finish();
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }
  std::vector<uint32_t> words(kPageBytes / 4);
  const Status read = session->queue().Read(*counter, 0, std::as_writable_bytes(std::span(words)));
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(words[0], kLaunches);
  EXPECT_GE(session->reconnects(), 10u);
}

// Payload of commands that wait is held by the daemon across connections: it has been accepted once.
TEST_F(ClientReconnect, AcceptedPayload_IsNotResent) {
  constexpr size_t kHeldBytes = 3 << 20;
  constexpr size_t kWrittenBytes = 4 << 20;
  ConnectOptions holding = {.address = daemon_.address()};
  holding.lease = LeaseOptions{};
  std::optional<Result<Session>> holder = Session::Connect(holding);
  ASSERT_TRUE(holder->ok()) << holder->status().ToString();

  CutRelay relay(daemon_.address());
  Result<Session> session = Session::Connect(Options(relay));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const Program empty = MakeProgram(&*session, "empty", {kCore});
  Result<Buffer> held = session->AllocateDram(kHeldBytes);
  Result<Buffer> written = session->AllocateDram(kWrittenBytes);
  Result<Queue> other = session->OpenQueue({.kind = QueueKind::kTransfer});
  ASSERT_TRUE(held.ok() && written.ok() && other.ok());
  Queue queue = session->queue();
  std::vector<std::byte> none(64);
  const uint64_t empty_relay = relay.passed(CutRelay::kToDaemon);
  ASSERT_TRUE(queue.EnqueueLaunch(LaunchRequest(empty)).ok()) << "it waits for the lease";
  ASSERT_TRUE(queue.EnqueueRead(*held, 2 * kHeldBytes, none).ok()) << "it will be refused";
  ASSERT_TRUE(queue.EnqueueWrite(*held, 0, Pattern(kHeldBytes)).ok());
  ASSERT_TRUE(session->queue().Flush().ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (relay.passed(CutRelay::kToDaemon) < empty_relay + kHeldBytes &&
         std::chrono::steady_clock::now() < deadline) {
    static_cast<void>(session->Poll(std::chrono::milliseconds(2)));
  }
  const uint64_t before = relay.passed(CutRelay::kToDaemon);
  for (uint64_t cut = 1; cut <= 2; ++cut) {
    relay.CutNow();
    while (session->reconnects() < cut && std::chrono::steady_clock::now() < deadline) {
      static_cast<void>(session->Poll(std::chrono::milliseconds(2)));
    }
    ASSERT_EQ(session->reconnects(), cut);
    static_cast<void>(session->Poll(std::chrono::milliseconds(50)));
  }
  EXPECT_LT(relay.passed(CutRelay::kToDaemon) - before, kHeldBytes / 2)
      << "at most what the sockets held";
  relay.CutAfter(CutRelay::kToDaemon, kWrittenBytes * 7 / 8);
  const std::vector<std::byte> bytes = Pattern(kWrittenBytes, 3);
  const Result<Position> write = other->EnqueueWrite(*written, 0, bytes);
  ASSERT_TRUE(write.ok()) << write.status().ToString();
  ASSERT_TRUE(session->queue().Flush().ok());
  holder.reset();
  const Status waited = other->Wait(*write);
  ASSERT_TRUE(waited.ok()) << waited.ToString();
  EXPECT_EQ(session->reconnects(), 3u);
  std::vector<std::byte> back(kWrittenBytes);
  const Status read = other->Read(*written, 0, back);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(back, bytes);
}

TEST_F(ClientReconnect, AMessageThatBreaksEveryConnectionIsNotSentForEver) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  // The daemon's time begins when it sees the break, the client's when the client does: with little, the daemon has
  // given the session up before the client has.
  options.reconnect_timeout = std::chrono::seconds(3);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> large = session->AllocateDram(kLargeBytes);
  ASSERT_TRUE(large.ok());
  relay.CutAfter(CutRelay::kToDaemon, 60'000, /*again=*/true);
  const Status status = session->queue().Write(*large, 0, Pattern(kLargeBytes));
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  EXPECT_LE(relay.cuts(), 20u) << "in growing intervals";
}

TEST_F(ClientReconnect, ABackgroundThreadComesBackWhileNobodyWaits) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.background_thread = true;
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  relay.CutNow();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (session->reconnects() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(session->reconnects(), 1u);
  EXPECT_TRUE(session->AllocateDram(64).ok());
}

TEST_F(ClientReconnect, ASessionThatIsGoneSaysWhatWentWithItAndTheNextUseBeginsAnew) {
  CutRelay relay(daemon_.address());
  Result<Session> session = Session::Connect(Options(relay));
  ASSERT_TRUE(session.ok());
  const uint64_t first = session->id();
  Result<Buffer> a = session->AllocateDram(4096);
  Result<Buffer> b = session->AllocateDram(4096);
  const Program program = MakeProgram(&*session, "empty", {kCore});
  const std::vector<LaunchRequest> launches = {LaunchRequest(program)};
  Result<Trace> trace = session->queue().RecordTrace(launches);
  ASSERT_TRUE(a.ok() && b.ok() && trace.ok());
  Queue queue = session->queue();
  relay.Refuse(true);
  relay.CutNow();
  ASSERT_TRUE(admin_.TerminateSession(first, "test").ok());
  relay.Refuse(false);
  const Result<Position> barrier = queue.EnqueueBarrier();
  const Status status = barrier.ok() ? queue.Wait(*barrier) : barrier.status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "SESSION_LOST") << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), HasSubstr("2 buffers, 0 kernels, 1 program, 1 trace"));
  EXPECT_EQ(queue.EnqueueBarrier().status().reason(), "SESSION_LOST");
  EXPECT_EQ(session->status().reason(), "SESSION_LOST");
  ASSERT_TRUE(session->AllocateDram(64).ok());
  EXPECT_NE(session->id(), first);
  EXPECT_TRUE(session->queue().EnqueueBarrier().ok());
  EXPECT_EQ(queue.EnqueueBarrier().status().reason(), "SESSION_LOST");
}

TEST_F(ClientReconnect, ADaemonThatIsAwayForTooLongIsAConnectionLost) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_timeout = std::chrono::milliseconds(300);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  relay.Refuse(true);
  relay.CutNow();
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), HasSubstr("1 buffer, 0 kernels, 0 programs, 0 traces"));
  EXPECT_THAT(status.message(), HasSubstr("1 command without an answer"));
  ExpectNothingLeft();  // the daemon keeps it no longer than the client asked for
  relay.Refuse(false);
  // A new session in its place, to which the old buffer means nothing.
  Result<Buffer> again = session->AllocateDram(4096);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_NE(again->handle(), buffer->handle());
  EXPECT_EQ(session->queue().Fill(*buffer, 0, 4096, 1).reason(), "UNKNOWN_HANDLE");
  EXPECT_TRUE(session->queue().Fill(*again, 0, 4096, 1).ok());
}

TEST_F(ClientReconnect, ASessionClosedWhileItsConnectionIsBrokenSaysSoOverAnotherAndLeavesNothing) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.connect_timeout = std::chrono::minutes(2);
  options.reconnect_timeout = std::chrono::minutes(4);
  for (const bool background : {false, true}) {
    options.background_thread = background;
    Result<Session> session = Session::Connect(options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    ASSERT_TRUE(session->AllocateDram(4096).ok());
    relay.CutNow();
  }
  ExpectNothingLeft();
}

TEST_F(ClientReconnect, ClosingDoesNotWaitForADaemonThatIsAway) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_timeout = std::chrono::minutes(4);
  uint64_t id = 0;
  {
    Result<Session> session = Session::Connect(options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    id = session->id();
    relay.Refuse(true);
    relay.CutNow();
  }
  // One attempt, not one after the other for four minutes. The daemon keeps the session for its reconnect timeout.
  Result<std::vector<SessionInfo>> sessions = admin_.ListSessions();
  ASSERT_TRUE(sessions.ok());
  EXPECT_TRUE(std::any_of(sessions->begin(), sessions->end(),
                          [id](const SessionInfo& one) { return one.session == id; }));
  EXPECT_TRUE(admin_.TerminateSession(id, "test").ok());
  ExpectNothingLeft();
}

TEST_F(ClientReconnect, WithoutTimeToComeBackTheSessionEndsWithItsConnection) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_timeout = std::chrono::milliseconds(0);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  relay.CutNow();
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  ExpectNothingLeft();
}

TEST_F(ClientReconnect, AClientThatAsksForMoreTimeThanIsAllowedGetsLess) {
  ConnectOptions options = {.address = daemon_.address()};
  options.reconnect_timeout = std::chrono::minutes(8);  // the daemon's limit is five
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_TRUE(session->AllocateDram(64).ok());
}

}  // namespace
}  // namespace ttfd::client
