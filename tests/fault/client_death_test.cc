// Clients and daemons that are killed at any moment: nothing leaks, nobody else is harmed, everybody comes back.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/support/death_fixture.h"
#include "tests/support/random.h"

namespace ttfd::testing {
namespace {

using client::Buffer;
using client::Result;
using client::Session;
using client::Status;
using std::chrono::milliseconds;

constexpr auto kReconnectFor = std::chrono::seconds(20);

// Kills `kills` clients, each at a moment of its own in its first 150 ms, three at a time.
void KillClients(int kills) {
  ClientDaemon daemon;
  Random random(11);
  {
    Verifiers verifiers(daemon.address(), 2, kReconnectFor);
    std::vector<std::unique_ptr<ClientProcess>> victims(3);
    for (int i = 0; i < kills; ++i) {
      auto& victim = victims[static_cast<size_t>(i) % victims.size()];
      victim = std::make_unique<ClientProcess>(daemon.address(), static_cast<uint64_t>(i), 0,
                                               /*lease=*/i % 4 == 3);
      std::this_thread::sleep_for(milliseconds(random() % 80));
    }
    victims.clear();
    EXPECT_TRUE(verifiers.AllGoOn(5)) << daemon.Log();
    EXPECT_EQ(verifiers.losses(), 0u);
  }
  EXPECT_EQ(WaitForNothingLeft(daemon.address()), Leftovers{});
  ::testing::Test::RecordProperty("points", kills);
}

// Kills the daemon `kills` times: while it serves, and every third time while it boots.
void KillDaemon(int kills) {
  ClientDaemon daemon;
  Random random(12);
  Verifiers verifiers(daemon.address(), 3, kReconnectFor);
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(milliseconds(random() % 150));
    daemon.Kill();
    if (i % 3 == 2) {
      daemon.Spawn();
      std::this_thread::sleep_for(milliseconds(random() % 60));
      daemon.Kill();
    }
    daemon.Spawn();
    ASSERT_TRUE(daemon.AwaitServing());
    ASSERT_TRUE(verifiers.AllGoOn(2)) << "after kill " << i << "\n" << daemon.Log();
  }
  verifiers.Stop();
  EXPECT_GE(verifiers.losses(), static_cast<uint64_t>(kills)) << "they were told";
  EXPECT_EQ(WaitForNothingLeft(daemon.address()), Leftovers{});
  ::testing::Test::RecordProperty("points", kills + kills / 3);
}

TEST(ClientDeath, AnywhereLeavesNothingAndHarmsNobody) { KillClients(40); }

TEST(DaemonDeath, AtAnyMomentIsFollowedByAStartAndClientsGoOn) { KillDaemon(4); }

TEST(DaemonDeath, IsToldWithWhatIsGone) {
  ClientDaemon daemon;
  Result<Session> session = Session::Connect({.address = daemon.address()});
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
