// The daemon with its threads: clients on threads of their own beside the device thread and the host thread. For the
// thread sanitizer.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/support/core_fixture.h"
#include "tests/support/one_card.h"
#include "tests/support/threaded_client.h"

namespace ttfd::session_threads_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SessionThreads : public CoreTest {
 protected:
  void StartThreads() {
    behaviour.dram_bank_bytes = 16 << 20;
    auto fake = std::make_unique<FakeCard>(behaviour);
    fake->keep_log = false;
    card = fake.get();
    if (on_launch) card->on_launch = on_launch;
    if (prepare) prepare(card);
    options.load_kernel = [](ByteSpan, const std::string&) {
      auto image = std::make_shared<KernelImage>();
      image->bytes.resize(128);
      return std::shared_ptr<const KernelImage>(std::move(image));
    };
    auto created = Daemon::Create(OneCard(std::move(fake)), SteadyClock(), options);
    ASSERT_TRUE(created.ok());
    core = *std::move(created);
    ASSERT_TRUE(core->Start().ok());
  }
  void TearDown() override {
    EXPECT_TRUE(core->Stop(SteadyClock().Now() + seconds(10)).ok());
    EXPECT_EQ(core->admin().GetStatus().devices[0].memory[0].used_bytes, 0u);
  }

  std::function<Status(const LaunchCommand&)> on_launch;
  std::function<void(FakeCard*)> prepare;
};

TEST_F(SessionThreads, ClientsOnThreadsGetTheirOwnDataBack) {
  StartThreads();
  std::vector<std::thread> threads;
  for (uint32_t id = 1; id <= 4; ++id) {
    threads.emplace_back([this, id] {
      ThreadedClient client(*core);
      client.Send({Allocate(1, 256 << 10), InlineKernel(2), OneKernelProgram(3, 2)});
      for (uint32_t round = 0; round < 20; ++round) {
        const std::string bytes = Pattern(32 << 10, id * 1000 + round);
        client.Send(
            {InlineWrite(1, 0, bytes), Launch(3), BarrierRequest{}, Read(1, 0, bytes.size())});
        EXPECT_EQ(client.WaitFor(client.sent()), bytes);
      }
      EXPECT_TRUE(client.errors().empty());
      client.Finish();
      Status status;
      EXPECT_TRUE(client.Ends(&status));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SessionThreads, FaultsCancelsAndAbandonsAtAnyTime) {
  std::atomic<int> launches{0};
  on_launch = [&launches](const LaunchCommand&) {
    return ++launches % 50 == 0 ? Error(StatusCode::kFailedPrecondition, "died") : OkStatus();
  };
  StartThreads();
  std::vector<std::thread> threads;
  for (uint32_t id = 1; id <= 4; ++id) {
    threads.emplace_back([this, id] {
      for (uint32_t round = 0; round < 15; ++round) {
        ThreadedClient client(*core);
        client.Send({Allocate(1, 64 << 10), InlineKernel(2), OneKernelProgram(3, 2),
                     StreamedWrite(1, 0, 64 << 10)});
        for (uint64_t i = 0; i < 4; ++i) {
          client.Supply({0, 4, i * (16 << 10), Pattern(16 << 10)});
        }
        for (uint32_t i = 0; i < 10; ++i) client.Send({Launch(3), Read(1, 0, 64 << 10)});
        if ((id + round) % 3 == 0) client.Cancel({0, 10});
        if ((id + round) % 3 == 1) client.WaitFor(client.sent());
        client.Abandon();
      }
    });
  }
  std::thread admin([this] {
    for (int i = 0; i < 20; ++i) {
      core->admin().GetStatus();
      for (const auto& session : core->admin().ListSessions()) {
        if (i % 7 == 0) core->admin().TerminateSession(session.session, "test").IgnoreError();
      }
      EXPECT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  for (std::thread& thread : threads) thread.join();
  admin.join();
}

TEST_F(SessionThreads, LateCommandsEndAndADrainEndsSessions) {
  StartThreads();
  ThreadedClient client(*core);
  BatchRequest batch;
  batch.first_value = 1;
  batch.start_within_ms = 20;
  batch.commands = {Allocate(1, 1024), StreamedWrite(1, 0, 1024)};
  client.Submit(std::move(batch));
  client.WaitFor(2);
  EXPECT_EQ(client.errors().size(), 1u);
  std::atomic<bool> done{false};
  core->admin().Drain(50, [&done](const ProgressReply& progress) { done = progress.done; });
  Status status;
  const TimePoint deadline = SteadyClock().Now() + seconds(10);
  while (!client.Ended(&status) && SteadyClock().Now() < deadline) {
    client.session().TakeOutput(1 << 20);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  while (!done && SteadyClock().Now() < deadline) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(done);
}

// It sleeps between two looks; without work it would look every few seconds, and never sleeping thousands of times in
// this time.
TEST_F(SessionThreads, TheDeviceThreadLooksAfterACardThatRunsByItself) {
  constexpr int kLooks = 50;
  std::atomic<bool> runs{true};
  behaviour.runs_by_itself = true;
  prepare = [&runs](FakeCard* fake) {
    fake->runs_on = [&runs](const LaunchCommand&) { return runs.load(); };
  };
  StartThreads();
  ThreadedClient client(*core);
  client.Send({InlineKernel(2), OneKernelProgram(3, 2), Launch(3), BarrierRequest{}});
  const TimePoint began = SteadyClock().Now();
  const uint64_t before = core->heartbeat();
  while (core->heartbeat() < before + kLooks && SteadyClock().Now() < began + seconds(10)) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_GE(core->heartbeat(), before + kLooks);
  EXPECT_GE(SteadyClock().Now() - began, kLooks / 2 * Backoff::kLongest);
  runs = false;
  client.WaitFor(client.sent());
  client.Finish();
  Status status;
  EXPECT_TRUE(client.Ends(&status));
}

TEST_F(SessionThreads, ThePollerThreadRunsLaunchesButLeavesTheRecoveryToTheDeviceThread) {
  std::atomic<std::thread::id> poller_id{}, boot_id{};
  std::atomic<int> launches{0}, boots{0};  // launches of the poller thread
  on_launch = [&](const LaunchCommand&) {
    if (std::this_thread::get_id() != poller_id.load() || ++launches < 20) return OkStatus();
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  prepare = [&](FakeCard* fake) {
    fake->on_boot = [&] {
      boot_id = std::this_thread::get_id();
      ++boots;
    };
  };
  StartThreads();
  ThreadedClient client(*core);
  client.Send({InlineKernel(2), OneKernelProgram(3, 2)});
  client.WaitFor(2);
  std::thread poller([&] {
    poller_id = std::this_thread::get_id();
    core->SetPollerThread(true);
    const TimePoint end = SteadyClock().Now() + seconds(20);
    while (launches < 20 && SteadyClock().Now() < end) {
      client.Send({Launch(3)});
      core->RunDeviceRounds();
      std::this_thread::sleep_for(milliseconds(1));  // the device thread has time to sleep again
    }
    core->SetPollerThread(false);
  });
  poller.join();
  client.WaitFor(client.sent());
  EXPECT_EQ(launches, 20);
  EXPECT_EQ(client.errors().size(), 1u);
  for (const TimePoint end = SteadyClock().Now() + seconds(20);
       boots < 2 && SteadyClock().Now() < end;) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(boots, 2);
  EXPECT_NE(boot_id.load(), poller_id.load());
}

TEST_F(SessionThreads, ThePollerThreadLeavesLargeMessagesToTheDeviceThread) {
  std::atomic<std::thread::id> launched_by{};
  on_launch = [&](const LaunchCommand&) {
    launched_by = std::this_thread::get_id();
    return OkStatus();
  };
  StartThreads();
  ThreadedClient client(*core);
  client.Send({InlineKernel(2), OneKernelProgram(3, 2)});
  client.WaitFor(2);
  core->SetPollerThread(true);
  for (uint64_t value = 3; value < 23; ++value) {
    std::this_thread::sleep_for(milliseconds(1));  // the device thread has time to sleep again
    BatchRequest batch;
    batch.first_value = value;
    batch.commands = {Launch(3)};
    client.Submit(std::move(batch), /*cost=*/100 << 10);
    core->RunDeviceRounds();
    client.WaitFor(value);
    ASSERT_NE(launched_by.load(), std::this_thread::get_id());
  }
  core->SetPollerThread(false);
}

TEST_F(SessionThreads, TheHeartbeatGoesOnWhileIdle) {
  options.thread.idle_tick = milliseconds(5);
  StartThreads();
  const uint64_t before = core->heartbeat();
  const TimePoint deadline = SteadyClock().Now() + seconds(10);
  while (core->heartbeat() < before + 3 && SteadyClock().Now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GE(core->heartbeat(), before + 3);
}

TEST_F(SessionThreads, AStopCutsARepairShort) {
  std::atomic<bool> repairing{false};
  on_launch = [](const LaunchCommand&) { return Error(StatusCode::kFailedPrecondition, "died"); };
  prepare = [&](FakeCard* fake) {
    fake->on_boot = [&repairing, fake] {
      if (fake->boots == 1) return;
      repairing = true;
    };
    fake->boot_lasts = [fake, end = SteadyClock().Now() + seconds(20)] {
      std::this_thread::sleep_for(milliseconds(1));
      return fake->boots > 1 && SteadyClock().Now() < end;
    };
  };
  StartThreads();
  ThreadedClient client(*core);
  client.Send({InlineKernel(2), OneKernelProgram(3, 2), Launch(3)});
  const TimePoint began = SteadyClock().Now();
  while (!repairing && SteadyClock().Now() < began + seconds(20)) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_TRUE(repairing);
  const TimePoint stop = SteadyClock().Now();
  const Status stopped = core->Stop(stop + milliseconds(100));
  EXPECT_TRUE(stopped.ok()) << "what was cut off is no error: " << stopped.ToString();
  EXPECT_LT(SteadyClock().Now() - stop, seconds(10));
  EXPECT_EQ(card->boots, 2) << "nor is it tried again";
}

}  // namespace
}  // namespace ttfd::session_threads_test
