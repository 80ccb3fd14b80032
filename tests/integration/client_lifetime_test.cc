// Beginnings and ends: what a client sees when sessions and daemons go away.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "tests/support/client_fixture.h"
#include "tests/support/test_device_text.h"

namespace ttfd::client::client_lifetime_test {
namespace {

class ClientLifetime : public ttfd::testing::ClientFixture {
 protected:
  // Waits up to ten seconds for `count` sessions.
  bool SessionsBecome(size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (;;) {
      const Result<std::vector<SessionInfo>> sessions = admin_.ListSessions();
      if (sessions.ok() && sessions->size() == count) {
        return true;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  Admin admin_ = Admin::Connect(daemon_.address());
};

TEST_F(ClientLifetime, SessionsAreListedWithWhoTheyAre) {
  Result<Buffer> buffer = session_->AllocateDram(1 << 20);
  const Result<std::vector<SessionInfo>> sessions = admin_.ListSessions();
  ASSERT_TRUE(sessions.ok()) << sessions.status().ToString();
  ASSERT_EQ(sessions->size(), 1u);
  EXPECT_EQ((*sessions)[0].session, session_->id());
  EXPECT_EQ((*sessions)[0].client_name, "test");
  EXPECT_EQ((*sessions)[0].pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ((*sessions)[0].uid, getuid());
  EXPECT_GE((*sessions)[0].dram_bytes, 1u << 20);
}

TEST_F(ClientLifetime, CloseFinishesWhatWasEnqueuedAndFreesTheSession) {
  const Program program = MakeProgram(session_.get(), "empty", {CoreRange{0, 0, 3, 3}});
  Queue queue = session_->queue();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(queue.EnqueueLaunch(LaunchRequest(program)).ok());
  }
  const Status closed = session_->Close();
  EXPECT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(queue.completed(), 500u);
  EXPECT_TRUE(SessionsBecome(0));
}

TEST_F(ClientLifetime, AKernelThatNeverEndsIsEndedByTheTimeoutAndCostsOthersAtMostARetry) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  ASSERT_TRUE(admin_.SetTimeouts({.kernel_ms = 200}, session_->id()).ok());
  const Program spin = MakeProgram(session_.get(), "spin", {CoreRange{2, 1, 2, 1}});
  const Status hang = session_->queue().Launch(LaunchRequest(spin).Common(0, {0x9F000}));
  EXPECT_EQ(hang.code(), Code::kAborted) << hang.ToString();
  EXPECT_EQ(hang.reason(), "HANG");
  EXPECT_NE(hang.message().find("(2,1)"), std::string::npos) << hang.ToString();

  Session other = Connect("other");
  EXPECT_TRUE(AddVectors(&other, 64, 8, 5).ok());
  const Result<DaemonStatus> status = admin_.GetStatus();
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->state, DaemonState::kReady);
  EXPECT_EQ(status->devices[0].resets, 1u);
}

TEST_F(ClientLifetime, ADaemonWithIdleSessionsUsesNoProcessor) {
  const Session other = Connect("other");
  const auto ticks = [this] {  // utime + stime, hundredths of a second
    std::ifstream file("/proc/" + std::to_string(daemon_.pid()) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    uint64_t user = 0;
    uint64_t system = 0;
    fields >> user >> system;
    return user + system;
  };
  ASSERT_TRUE(AddVectors(session_.get(), 64, 8, 5).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const uint64_t before = ticks();
  ASSERT_GT(before, 0u);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  // One thread that polls would take 300.
  EXPECT_LE(ticks() - before, 15u);
}

TEST_F(ClientLifetime, ADestroyedSessionFreesItsMemory) {
  const auto used = [this] {
    const Result<DaemonStatus> status = admin_.GetStatus();
    return status.ok() ? status->devices[0].memory.at(0).used_bytes : UINT64_MAX;
  };
  const uint64_t before = used();
  {
    Session other = Connect("other");
    Result<Buffer> buffer = other.AllocateDram(64 << 20);
    ASSERT_TRUE(buffer.ok());
    EXPECT_GE(used(), before + (64 << 20));
  }
  EXPECT_TRUE(SessionsBecome(1));
  EXPECT_EQ(used(), before);
}

TEST_F(ClientLifetime, AClientThatVanishesMidWriteHarmsNobody) {
  const pid_t child = fork();
  if (child == 0) {
    Result<Session> session = Session::Connect({.address = daemon_.address()});
    Result<Buffer> buffer = session->AllocateDram(256 << 20);
    const std::vector<std::byte> bytes(256 << 20);
    static_cast<void>(session->queue().EnqueueWrite(*buffer, 0, bytes));
    _exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(SessionsBecome(1));
  const Status status = AddVectors(session_.get(), 100, 50, 5);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_F(ClientLifetime, AnEndedSessionHearsWhy) {
  Session other = Connect("other");
  ASSERT_TRUE(admin_.TerminateSession(other.id(), "maintenance at noon").ok());
  EXPECT_TRUE(SessionsBecome(1));
  Result<Position> position = other.queue().EnqueueBarrier();
  const Status status = position.ok() ? other.queue().Wait(*position) : position.status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("maintenance at noon"), std::string::npos) << status.ToString();
  Result<Buffer> mine = session_->AllocateDram(64);
  EXPECT_TRUE(mine.ok());
}

TEST_F(ClientLifetime, EndingASessionThatIsNotThereIsNotFound) {
  const Status status = admin_.TerminateSession(123456, "test");
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
}

TEST_F(ClientLifetime, AKilledDaemonIsAClearErrorForAWaitingClient) {
  Result<Session> session = Session::Connect(
      {.address = daemon_.address(), .reconnect_timeout = std::chrono::milliseconds(300)});
  ASSERT_TRUE(session.ok());
  std::thread killer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    daemon_.Kill();
  });
  Status status;
  while (status.ok()) {
    const Result<Position> position = session->queue().EnqueueBarrier();
    status = position.ok() ? session->queue().Wait(*position) : position.status();
  }
  killer.join();
  EXPECT_EQ(status.code(), Code::kUnavailable) << status.ToString();
  EXPECT_EQ(status.reason(), "CONNECTION_LOST");
  EXPECT_EQ(session->AllocateDram(64).status().code(), Code::kUnavailable);
  EXPECT_FALSE(Session::Connect({.address = daemon_.address()}).ok());
}

TEST_F(ClientLifetime, TimeoutsCanBeReadAndChanged) {
  Result<Timeouts> timeouts = admin_.SetTimeouts({.kernel_ms = 12'345});
  ASSERT_TRUE(timeouts.ok()) << timeouts.status().ToString();
  EXPECT_EQ(timeouts->kernel_ms, 12'345u);
  timeouts = admin_.GetTimeouts();
  ASSERT_TRUE(timeouts.ok());
  EXPECT_EQ(timeouts->kernel_ms, 12'345u);
  EXPECT_NE(timeouts->operation_ms, 0u);
}

TEST_F(ClientLifetime, TheDaemonStopsCleanlyOnTerm) {
  ASSERT_TRUE(session_->Close().ok());
  EXPECT_EQ(daemon_.Stop(), 0) << daemon_.Log();
}

}  // namespace
}  // namespace ttfd::client::client_lifetime_test
