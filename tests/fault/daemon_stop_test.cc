// SIGTERM while kernels run that never end: the daemon is gone within its bound, and every client hears why.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/client_daemon.h"
#include "ttfd/admin.h"
#include "ttfd/ttfd.h"

namespace ttfd::testing {
namespace {

using client::Buffer;
using client::LaunchRequest;
using client::Position;
using client::Program;
using client::Result;
using client::Session;
using client::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kDrainMs = 200;
constexpr uint32_t kCardMs = 300;
// What the documentation promises beside the two, and what a busy machine and sanitizers may add.
constexpr seconds kRest{5 + 8};
constexpr seconds kTimeout{20};

std::string Config(uint32_t drain_ms) {
  return "[stop]\ndrain_ms = " + std::to_string(drain_ms) +
         "\ncard_ms = " + std::to_string(kCardMs) + "\n[timeouts]\nkernel_ms = 600000\n";
}

// A client that is not to come back, with a program of its own.
struct Client {
  Client(const std::string& address, const std::string& kernel_name) {
    Result<Session> connected = Session::Connect({.address = address, .reconnect_timeout = {}});
    if (!connected.ok()) {
      ADD_FAILURE() << connected.status().ToString();
      return;
    }
    session.emplace(std::move(*connected));
    Result<client::Kernel> kernel = session->LoadKernelFile(KernelPath(kernel_name));
    Result<Buffer> memory = session->AllocateL1(64);
    if (!kernel.ok() || !memory.ok()) {
      ADD_FAILURE() << kernel.status().ToString() << memory.status().ToString();
      return;
    }
    client::ProgramBuilder builder;
    builder.AddKernel(*kernel, client::Processor::kBrisc, {{0, 0, 0, 0}});
    Result<Program> made = session->CreateProgram(builder);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    buffer = std::move(*memory);
    program = std::move(*made);
  }

  Position Launch(const LaunchRequest& launch) {
    const Result<Position> at = session->queue().EnqueueLaunch(launch);
    EXPECT_TRUE(at.ok()) << at.status().ToString();
    EXPECT_TRUE(session->queue().Flush().ok());
    return at.ok() ? *at : Position{};
  }

  std::optional<Session> session;
  Buffer buffer;
  Program program;
};

// Spins on the card: everything behind it waits.
struct Spinner : Client {
  explicit Spinner(const std::string& address, std::optional<milliseconds> timeout = {})
      : Client(address, "spin") {
    LaunchRequest launch = LaunchRequest(program).Common(0, {0}).Address(0, 0, buffer);
    if (timeout) launch.Timeout(*timeout);
    launched = Launch(launch);
  }
  Position launched;
};

void AwaitWorkOnTheCard(const std::string& address) {
  client::Admin admin = client::Admin::Connect(address);
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  for (;;) {
    const auto status = admin.GetStatus();
    if (status.ok() && status->devices.at(0).hardware_queues.at(0).in_flight > 0) return;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(milliseconds(2));
  }
}

// The daemon has received the command: a client's Flush returns when it has sent it.
void AwaitReceived(const std::string& address, const Session& session, Position command) {
  client::Admin admin = client::Admin::Connect(address);
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  for (;;) {
    const auto sessions = admin.ListSessions();
    ASSERT_TRUE(sessions.ok()) << sessions.status().ToString();
    for (const client::SessionInfo& info : *sessions) {
      if (info.session != session.id()) continue;
      for (const Position& submitted : info.submitted) {
        if (submitted.queue == command.queue && submitted.value >= command.value) return;
      }
    }
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(milliseconds(2));
  }
}

void ExpectTold(const Status& status) {
  EXPECT_EQ(status.code(), client::Code::kUnavailable) << status.ToString();
  EXPECT_EQ(status.reason(), "DRAINING") << status.ToString();
  EXPECT_TRUE(status.retryable());
}

class DaemonStop : public ::testing::Test {
 protected:
  // Stop, its exit code, and whether it kept to the bound.
  static void ExpectStops(ClientDaemon* daemon, milliseconds bound) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
    EXPECT_LT(std::chrono::steady_clock::now() - began, bound) << daemon->Log();
    EXPECT_THAT(daemon->Log(), ::testing::HasSubstr("info stopped"));
  }
};

TEST_F(DaemonStop, ALaunchThatNeverEndsAndWhatWaitsBehindItAreCutOffAndTold) {
  ClientDaemon daemon({}, Config(kDrainMs));
  Spinner endless(daemon.address());
  AwaitWorkOnTheCard(daemon.address());
  Client other(daemon.address(), "empty");
  Position last;
  for (int i = 0; i < 100; ++i) last = other.Launch(LaunchRequest(other.program));
  AwaitReceived(daemon.address(), *other.session, last);
  Status of_endless, of_other;
  std::thread waits(
      [&] { of_endless = endless.session->queue().Wait(endless.launched, kTimeout); });
  std::thread waits_too([&] { of_other = other.session->queue().Wait(last, kTimeout); });
  ExpectStops(&daemon, milliseconds(kDrainMs + kCardMs) + kRest);
  waits.join();
  waits_too.join();
  ExpectTold(of_endless);
  ExpectTold(of_other);

  daemon.Spawn();
  ASSERT_TRUE(daemon.AwaitServing());
  Client next(daemon.address(), "empty");
  EXPECT_TRUE(next.session->queue().Launch(LaunchRequest(next.program)).ok());
}

TEST_F(DaemonStop, ASecondSignalEndsTheWaitForSessions) {
  constexpr uint32_t kLongDrainMs = 600'000;
  ClientDaemon daemon({}, Config(kLongDrainMs));
  Spinner endless(daemon.address());
  AwaitWorkOnTheCard(daemon.address());
  Status status;
  std::thread waits([&] { status = endless.session->queue().Wait(endless.launched, kTimeout); });
  kill(daemon.pid(), SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (daemon.Log().find("info stopping") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(milliseconds(2));
  }
  ExpectStops(&daemon, milliseconds(kCardMs) + kRest);
  waits.join();
  EXPECT_EQ(status.code(), client::Code::kUnavailable) << status.ToString();
}

// A pipe that is full and that nothing reads.
class FullPipe {
 public:
  FullPipe() {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    const std::string filling(static_cast<size_t>(fcntl(ends_[1], F_SETPIPE_SZ, 4096)), ' ');
    EXPECT_EQ(write(ends_[1], filling.data(), filling.size()),
              static_cast<ssize_t>(filling.size()));
  }
  ~FullPipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  int writer() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(DaemonStop, FullLogPipe_DelaysNothing) {
  const FullPipe log;
  ClientDaemon daemon({"--log-level", "debug"}, Config(kDrainMs), log.writer());
  Client bystander(daemon.address(), "empty");
  const std::vector<std::byte> pattern(64, std::byte{0x5A});
  ASSERT_TRUE(bystander.session->queue().Write(bystander.buffer, 0, pattern).ok());
  for (int i = 0; i < 3; ++i) {
    Spinner endless(daemon.address(), milliseconds(200));
    EXPECT_EQ(endless.session->queue().Wait(endless.launched, kTimeout).code(),
              client::Code::kAborted);
    std::vector<std::byte> read(64);
    ASSERT_TRUE(bystander.session->queue().Read(bystander.buffer, 0, read).ok());
    EXPECT_EQ(read, pattern);
    EXPECT_TRUE(bystander.session->queue().Launch(LaunchRequest(bystander.program)).ok());
  }
  bystander.session.reset();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon.Stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(kDrainMs + kCardMs) + kRest);
}

}  // namespace
}  // namespace ttfd::testing
