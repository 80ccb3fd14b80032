// How waiting calls of libttfd end early: interrupted, abandoned by another thread, or by a daemon that falls
// silent. The session stays as its caller expects.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_interrupt_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ttfd::testing::FakeOptions;
using ttfd::testing::FakeTtfdServer;

constexpr seconds kSoon{5};

class ClientInterrupt : public ::testing::Test {
 protected:
  ConnectOptions Options() {
    ConnectOptions options = {.address = server_->address(), .connect_timeout = seconds(60)};
    options.interrupted = [this] { return interrupts_.exchange(false); };
    return options;
  }
  void Connect(const FakeOptions& script, bool background = false) {
    server_ = std::make_unique<FakeTtfdServer>(script);
    ConnectOptions options = Options();
    options.background_thread = background;
    Result<Session> session = Session::Connect(options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = std::make_unique<Session>(std::move(*session));
  }
  Result<Position> EnqueueHang() {
    Result<Kernel> kernel = session_->LoadKernel(std::vector<std::byte>(16), "k");
    ProgramBuilder builder;
    builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
    Result<Program> program = session_->CreateProgram(builder);
    LaunchRequest launch(*program);
    launch.Timeout(milliseconds(ttfd::testing::kLaunchHangs));
    return session_->queue().EnqueueLaunch(launch);
  }

  std::unique_ptr<FakeTtfdServer> server_;
  std::unique_ptr<Session> session_;
  std::atomic<bool> interrupts_ = false;
};

TEST_F(ClientInterrupt, Wait_EndsAsAtItsDeadline) {
  for (const bool background : {false, true}) {
    Connect({}, background);
    const Result<Position> hung = EnqueueHang();
    interrupts_ = true;
    const auto start = steady_clock::now();
    const Status status = session_->queue().Wait(*hung);
    EXPECT_LT(steady_clock::now() - start, kSoon);
    EXPECT_EQ(status.reason(), "WAIT") << status.ToString();
    EXPECT_TRUE(session_->AllocateDram(64).ok()) << "the session is usable";
  }
}

TEST_F(ClientInterrupt, Connect_Ends) {
  server_ = std::make_unique<FakeTtfdServer>(FakeOptions{.faults = {.withhold_welcome = true}});
  interrupts_ = true;
  const auto start = steady_clock::now();
  const Result<Session> session = Session::Connect(Options());
  EXPECT_LT(steady_clock::now() - start, kSoon);
  EXPECT_EQ(session.status().reason(), "UNREACHABLE");
}

TEST_F(ClientInterrupt, LeaseWait_EndsWithSilentDaemon) {
  server_ = std::make_unique<FakeTtfdServer>(
      FakeOptions{.faults = {.wait_notices = 1, .withhold_welcome = true}});
  ConnectOptions options = Options();
  options.connect_timeout = milliseconds(50);
  options.lease = LeaseOptions{.wait = milliseconds(100)};
  const auto start = steady_clock::now();
  const Result<Session> session = Session::Connect(options);
  EXPECT_GE(steady_clock::now() - start, milliseconds(150));
  EXPECT_EQ(session.status().reason(), "UNREACHABLE");
  EXPECT_NE(session.status().message().find("within 150 ms"), std::string::npos)
      << session.status().message();
}

TEST_F(ClientInterrupt, Write_SendsTheRestLater) {
  Connect({.window_bytes = 98'304});
  constexpr size_t kBytes = 32 << 20;
  Result<Buffer> buffer = session_->AllocateDram(kBytes);
  ASSERT_TRUE(buffer.ok());
  std::vector<std::byte> bytes(kBytes, std::byte{7});
  std::this_thread::sleep_for(milliseconds(150));  // the first wait is interrupted
  interrupts_ = true;
  const Status status = session_->queue().Write(*buffer, 0, bytes);
  EXPECT_EQ(status.reason(), "WAIT") << status.ToString();
  EXPECT_LT(server_->seen().payload_bytes, kBytes);
  bytes.assign(kBytes, std::byte{8});
  const auto deadline = steady_clock::now() + seconds(10);
  while (server_->seen().payload_bytes < kBytes && steady_clock::now() < deadline) {
    ASSERT_TRUE(session_->Poll(milliseconds(1)).ok());
  }
  std::vector<std::byte> back(kBytes);
  ASSERT_TRUE(session_->queue().Read(*buffer, 0, back).ok());
  EXPECT_EQ(back, std::vector<std::byte>(kBytes, std::byte{7})) << "a copy was sent";
}

TEST_F(ClientInterrupt, Close_SendsTheRestOfAWrite) {
  Connect({.window_bytes = 98'304});
  constexpr size_t kBytes = 32 << 20;
  Result<Buffer> buffer = session_->AllocateDram(kBytes);
  ASSERT_TRUE(buffer.ok());
  std::this_thread::sleep_for(milliseconds(150));
  interrupts_ = true;
  const Status status = session_->queue().Write(*buffer, 0, std::vector<std::byte>(kBytes));
  EXPECT_EQ(status.reason(), "WAIT") << status.ToString();
  const Status closed = session_->Close();
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(server_->seen().payload_bytes, kBytes);
}

TEST_F(ClientInterrupt, Abandon_EndsCallsOfOtherThreads) {
  for (const bool background : {false, true}) {
    Connect({}, background);
    const Result<Position> hung = EnqueueHang();
    ASSERT_TRUE(session_->queue().Flush().ok());
    std::atomic<bool> waits = false;
    Status ended;
    std::thread waiting([&] {
      Queue queue = session_->queue();
      waits = true;
      ended = queue.Wait(*hung);
    });
    while (!waits) {
      std::this_thread::yield();
    }
    const auto start = steady_clock::now();
    session_->Abandon();
    session_->Abandon();
    waiting.join();
    EXPECT_LT(steady_clock::now() - start, kSoon);
    EXPECT_EQ(ended.code(), Code::kCancelled) << ended.ToString();
    EXPECT_EQ(session_->AllocateDram(64).status().code(), Code::kCancelled);
    EXPECT_TRUE(server_->seen().left);
  }
}

TEST_F(ClientInterrupt, AbandonAfterClose_KeepsItsOutcome) {
  Connect({});
  Result<Buffer> buffer = session_->AllocateDram(64);
  ASSERT_TRUE(session_->Close().ok());
  session_->Abandon();
  EXPECT_TRUE(session_->Close().ok());
  *buffer = Buffer();
  EXPECT_EQ(session_->queue().Flush().code(), Code::kOk) << "nothing is left to send";
  EXPECT_EQ(session_->queue().EnqueueBarrier().status().code(), Code::kCancelled);
}

TEST_F(ClientInterrupt, Abandon_ClosesTheConnection) {
  const auto sockets = [] {
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      count += std::filesystem::read_symlink(file, gone).string().starts_with("socket:") ? 1 : 0;
    }
    return count;
  };
  Connect({});
  const size_t connected = sockets();
  session_->Abandon();
  // The server, in this process, closes its end when it sees that of the client.
  const auto deadline = steady_clock::now() + seconds(10);
  while (sockets() > connected - 2 && steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(sockets(), connected - 2) << "both ends are closed";
}

}  // namespace
}  // namespace ttfd::client::client_interrupt_test
