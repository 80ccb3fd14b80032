// Clients and daemons that are killed at any moment: nothing leaks, nobody else is harmed, everybody comes back.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/support/death_fixture.h"

namespace ttfd::testing {
namespace {

using client::Buffer;
using client::Result;
using client::Session;
using client::Status;

TEST(ClientDeath, AnywhereLeavesNothingAndHarmsNobody) { KillClients(40); }

TEST(DaemonDeath, AtAnyMomentIsFollowedByAStartAndClientsGoOn) { KillDaemon(4); }

TEST(DaemonDeath, IsToldWithWhatIsGone) {
  ClientDaemon daemon;
  Result<Session> session = Session::Connect(
      {.address = daemon.address(), .reconnect_timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  ASSERT_TRUE(buffer.ok());
  daemon.Kill();
  daemon.Spawn();
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_EQ(status.reason(), "SESSION_LOST") << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), ::testing::HasSubstr("1 buffer, 0 kernels"));
  Result<Buffer> again = session->AllocateDram(4096);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_TRUE(session->queue().Fill(*again, 0, 4096, 1).ok());
}

TEST(DaemonDeath, InGoodOrderIsToldTooAndTheNextStartServesTheSameClients) {
  ClientDaemon daemon;
  Result<Session> session = Session::Connect({.address = daemon.address()});
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
  daemon.Spawn();
  ASSERT_TRUE(daemon.AwaitServing());  // a client that got DRAINING requests a new session once
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_TRUE(status.reason() == "DRAINING" || status.reason() == "SESSION_LOST")
      << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), ::testing::HasSubstr("1 buffer, 0 kernels"));
  EXPECT_TRUE(session->AllocateDram(4096).ok());
}

TEST(ManySessions, AThousandAreOpenAtOnce) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  constexpr size_t kSessions = 1000;
  ASSERT_GE(files.rlim_max, 6 * kSessions) << "this test needs more open files";
  ClientDaemon daemon({},
                      "[listen]\nconnections = 2000\nconnections_per_user = 2000\n"
                      "[limits]\nsessions_per_user = 2000\n");
  {
    std::vector<Session> sessions;
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < kSessions; ++i) {
      Result<Session> session = Session::Connect({.address = daemon.address()});
      ASSERT_TRUE(session.ok()) << i << ": " << session.status().ToString();
      Result<Buffer> buffer = session->AllocateDram(64);
      ASSERT_TRUE(buffer.ok()) << i << ": " << buffer.status().ToString();
      sessions.push_back(std::move(*session));
      buffers.push_back(std::move(*buffer));
    }
    const auto listed = client::Admin::Connect(daemon.address()).ListSessions();
    ASSERT_TRUE(listed.ok());
    EXPECT_EQ(listed->size(), kSessions);
    // Each has memory of its own.
    for (size_t i = 0; i < kSessions; ++i) {
      ASSERT_TRUE(
          sessions[i].queue().EnqueueFill(buffers[i], 0, 64, static_cast<uint32_t>(i) + 1).ok());
      ASSERT_TRUE(sessions[i].queue().Flush().ok());
    }
    for (size_t i = 0; i < kSessions; ++i) {
      uint32_t word = 0;
      const Status read =
          sessions[i].queue().Read(buffers[i], 0, std::as_writable_bytes(std::span(&word, 1)));
      ASSERT_TRUE(read.ok()) << i << ": " << read.ToString();
      ASSERT_EQ(word, i + 1);
    }
  }
  EXPECT_EQ(WaitForNothingLeft(daemon.address()), Leftovers{});
}

}  // namespace
}  // namespace ttfd::testing
