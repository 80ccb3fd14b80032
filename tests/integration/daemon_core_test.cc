// The daemon's core on the embedded device: sessions side by side, kernels that fault or hang, a card that comes back.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "daemon/api/status_reason.h"
#include "daemon/core/daemon.h"
#include "tests/support/daemon_on_device.h"

namespace ttfd {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class DaemonCoreOnDevice : public DaemonOnDevice {
 protected:
  // Runs a bad kernel behind a write, expects its launch to be the one that pays.
  void ExpectAttribution(const char* kernel, const char* reason, std::optional<uint32_t> timeout_ms,
                         bool counts = false) {
    ThreadedClient bad(*core);
    LaunchRequest launch = LaunchOf(3, timeout_ms);
    if (counts) launch.arguments.push_back({0, {0x9F000}, {}, 0, {}});
    bad.Send({BufferOf(1, kPage), KernelOf(2, kernel), ProgramOf(3, 2, {1, 1, 1, 1}),
              Write(1, Numbers(256, 1)), launch, ReadRequest{1, 0, kPage}});
    bad.WaitFor(6);
    ASSERT_EQ(bad.errors().size(), 2u);
    const CommandErrorReply& error = bad.errors()[0];
    EXPECT_EQ(error.first_value, 5u) << "the write before it ended well: " << error.error.message;
    EXPECT_EQ(error.error.code, StatusCode::kAborted) << error.error.message;
    EXPECT_EQ(error.error.reason, reason);
    EXPECT_EQ(bad.errors()[1].error.cause, (QueuePosition{0, 5}));
    message = error.error.message;
    // The same client goes on; what it wrote is still there.
    bad.Send({ReadRequest{1, 0, kPage}}, 5);
    const std::string data = bad.WaitFor(7);
    const std::vector<uint32_t> expected = Numbers(256, 1);
    ASSERT_EQ(data.size(), kPage);
    EXPECT_EQ(std::memcmp(data.data(), expected.data(), kPage), 0);
  }

  std::string message;
};

TEST_F(DaemonCoreOnDevice, SessionsSideBySideGetTheirOwnResults) {
  std::vector<std::thread> threads;
  for (uint32_t id = 1; id <= 3; ++id) {
    threads.emplace_back([this, id] {
      Adder adder(*core, id * 1'000'000);
      for (int round = 0; round < 10; ++round) {
        adder.Send();
        EXPECT_TRUE(adder.Right()) << "session " << id << " round " << round;
      }
      EXPECT_TRUE(adder.client.errors().empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 30u);
}

TEST_F(DaemonCoreOnDevice, AKernelThatFaultsCostsItsLaunch) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  ExpectAttribution("fault", "DEVICE_FAULT", {});
  EXPECT_THAT(message, HasSubstr("BRISC"));
  EXPECT_THAT(message, HasSubstr("pc"));
  EXPECT_TRUE(AwaitResets(*core, 1));
}

TEST_F(DaemonCoreOnDevice, AKernelThatWaitsForEverIsFoundAtOnce) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  const TimePoint before = SteadyClock().Now();
  ExpectAttribution("wait_forever", "HANG", 60'000);
  EXPECT_LT(SteadyClock().Now() - before, seconds(30)) << "long before its timeout";
}

TEST_F(DaemonCoreOnDevice, AKernelThatSpinsIsFoundByItsTimeout) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  ExpectAttribution("spin", "HANG", 200, true);
  EXPECT_THAT(message, HasSubstr("200 ms"));
}

TEST_F(DaemonCoreOnDevice, OthersGoOnBesideBadKernels) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  std::atomic<bool> stop{false};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (uint32_t id = 1; id <= 2; ++id) {
    threads.emplace_back([&, id] {
      Adder adder(*core, id * 1'000'000);
      uint64_t clears = 0;
      while (!stop) {
        const size_t errors = adder.client.errors().size();
        adder.Send(std::exchange(clears, 0));
        const bool correct = adder.Right();
        if (adder.client.errors().size() == errors) {
          EXPECT_TRUE(correct) << "a result that was not refused is right";
          ++right;
          continue;
        }
        const CommandErrorReply& error = adder.client.errors()[errors];
        EXPECT_EQ(error.error.code, StatusCode::kUnavailable) << error.error.message;
        EXPECT_TRUE(error.error.retryable);
        clears = error.first_value;
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    ExpectAttribution("fault", "DEVICE_FAULT", {});
    ExpectAttribution("wait_forever", "HANG", 60'000);
  }
  const int after_faults = right;
  const TimePoint deadline = SteadyClock().Now() + seconds(20);
  while (right < after_faults + 4 && SteadyClock().Now() < deadline) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(right, after_faults + 4);
  EXPECT_TRUE(AwaitResets(*core, 6));
}

TEST_F(DaemonCoreOnDevice, AResetByTheAdministratorKeepsMemory) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  ThreadedClient client(*core);
  client.Send({BufferOf(1, kPage), Write(1, Numbers(256, 7))});
  client.WaitFor(2);
  std::atomic<bool> done{false};
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  const TimePoint deadline = SteadyClock().Now() + seconds(20);
  while (!done && SteadyClock().Now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(done);
  client.Send({ReadRequest{1, 0, kPage}});
  const std::string data = client.WaitFor(3);
  ASSERT_EQ(data.size(), kPage);
  EXPECT_EQ(std::memcmp(data.data(), Numbers(256, 7).data(), kPage), 0);
}

TEST_F(DaemonCoreOnDevice, AClientThatVanishesMidWriteLeavesNothing) {
  for (int round = 0; round < 10; ++round) {
    ThreadedClient client(*core);
    WriteRequest write;
    write.buffer = 1;
    write.size = 1 << 20;
    write.streamed = true;
    const uint64_t value = client.Send({BufferOf(1, 1 << 20), write}) + 1;
    for (uint64_t i = 0; i < static_cast<uint64_t>(round); ++i) {
      client.Supply({0, value, i << 16, std::string(1 << 16, 'x')});
    }
    client.Abandon();
  }
  // The next owner of that memory sees zeros.
  ThreadedClient client(*core);
  client.Send({BufferOf(1, 1 << 20), ReadRequest{1, 0, 1 << 20}});
  EXPECT_EQ(client.WaitFor(2), std::string(1 << 20, '\0'));
}

// Whose reset empties the memory of every session.
class DaemonCoreOnLibrary : public DaemonOnDevice {
 protected:
  void SetUp() override {
    const std::string library = TestSimulator().empty() ? TTFD_SIM_LIBRARY : OfficialSimulator();
    Start(MakeCoreOn(OpenTtsimDevice({library, ""})));
  }
};

TEST_F(DaemonCoreOnLibrary, AFaultEndsEverySessionWithTheReasonAndTheNextAreServed) {
  Adder before(*core, 1);
  before.Send();
  EXPECT_TRUE(before.Right());
  {
    ThreadedClient bad(*core);
    bad.Send({KernelOf(2, "fault"), ProgramOf(3, 2, {1, 1, 1, 1}), LaunchOf(3)});
    bad.WaitFor(4);  // never sent: until its session has ended
    ASSERT_EQ(bad.errors().size(), 1u);
    // The card cannot be read: it is not proven that the launch did it.
    EXPECT_EQ(bad.errors()[0].error.reason, "DEVICE_RESET");
    Status how;
    EXPECT_TRUE(bad.Ended(&how));
    EXPECT_EQ(how.code(), StatusCode::kUnavailable) << StatusMessage(how);
  }
  before.client.WaitFor(before.client.sent() + 1);
  Status how;
  ASSERT_TRUE(before.client.Ended(&how)) << "what it had is gone";
  EXPECT_EQ(how.code(), StatusCode::kUnavailable);
  EXPECT_EQ(PayloadOf(how, kReasonPayload), "DEVICE_RESET");
  EXPECT_THAT(StatusMessage(how), HasSubstr("lost its memory"));

  Adder after(*core, 2);
  after.Send();
  EXPECT_TRUE(after.Right());
  EXPECT_TRUE(AwaitResets(*core, 1));
}

}  // namespace
}  // namespace ttfd
