// The core with its threads: clients on threads of their own beside the device thread and the housekeeper. For the thread sanitizer.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/support/core_fixture.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A call as daemon/rpc drives it: one thread sends, one takes.
class ThreadedClient final : public SessionOutput {
 public:
  explicit ThreadedClient(DaemonCore& core) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    auto session = core.Open({}, hello, this);
    EXPECT_TRUE(session.ok());
    session_ = *std::move(session);
  }

  void OutputReady() override {
    MutexLock lock(&mu_);
    ready_ = true;
    changed_.NotifyAll();
  }

  void Send(std::vector<Request> commands) {
    BatchRequest batch;
    batch.first_value = sent_ + 1;
    sent_ += commands.size();
    batch.commands = std::move(commands);
    EXPECT_TRUE(session_->Submit(std::move(batch)).ok());
  }

  // Takes output until the timeline reaches `value`; returns the data of the last read.
  std::string WaitFor(uint64_t value) {
    const TimePoint deadline = SteadyClock().Now() + seconds(20);
    while (progress_ < value && SteadyClock().Now() < deadline) {
      SessionOutputBatch batch = session_->TakeOutput(1 << 20);
      for (DataChunk& chunk : batch.data) {
        if (chunk.offset == 0) data_.clear();
        data_ += chunk.payload;
      }
      errors_ += batch.errors.size();
      for (const QueuePosition& position : batch.progress) progress_ = position.value;
      if (!batch.empty()) continue;
      Status status;
      if (session_->finished(&status)) return data_;  // ended by an administrator
      MutexLock lock(&mu_);
      while (!ready_ && changed_.WaitUntil(&mu_, deadline)) continue;
      ready_ = false;
    }
    EXPECT_GE(progress_, value) << "no progress in 20 s";
    return data_;
  }

  ClientSession& session() { return *session_; }
  uint64_t sent() const { return sent_; }
  uint64_t errors() const { return errors_; }

 private:
  std::shared_ptr<ClientSession> session_;
  uint64_t sent_ = 0;
  uint64_t progress_ = 0;
  uint64_t errors_ = 0;
  std::string data_;
  Mutex mu_;
  CondVar changed_;
  bool ready_ ABSL_GUARDED_BY(mu_) = false;
};

class SessionThreads : public CoreTest {
 protected:
  void StartThreads() {
    behaviour.dram_bank_bytes = 16 << 20;
    auto dispatcher = std::make_unique<FakeDispatcher>(behaviour);
    dispatcher->keep_log = false;
    card = dispatcher.get();
    if (on_launch) card->on_launch = on_launch;
    options.load_kernel = [](ByteSpan, const std::string&) {
      auto image = std::make_shared<KernelImage>();
      image->bytes.resize(128);
      return std::shared_ptr<const KernelImage>(std::move(image));
    };
    auto created = DaemonCore::Create(std::move(dispatcher), SteadyClock(), options);
    ASSERT_TRUE(created.ok());
    core = *std::move(created);
    ASSERT_TRUE(core->Start().ok());
  }
  void TearDown() override {
    EXPECT_TRUE(core->Stop(SteadyClock().Now() + seconds(10)).ok());
    EXPECT_EQ(core->GetStatus().memory[0].used_bytes, 0u);
  }

  std::function<Status(const LaunchCommand&)> on_launch;
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
      EXPECT_EQ(client.errors(), 0u);
      client.session().FinishInput();
      Status status;
      EXPECT_TRUE(client.session().finished(&status));
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
          EXPECT_TRUE(client.session().Supply({0, 4, i * (16 << 10), Pattern(16 << 10)}).ok());
        }
        for (uint32_t i = 0; i < 10; ++i) client.Send({Launch(3), Read(1, 0, 64 << 10)});
        if ((id + round) % 3 == 0) client.session().Cancel({0, 10}).IgnoreError();
        if ((id + round) % 3 == 1) client.WaitFor(client.sent());
        client.session().Abandon();
      }
    });
  }
  std::thread admin([this] {
    for (int i = 0; i < 20; ++i) {
      core->GetStatus();
      for (const auto& session : core->ListSessions()) {
        if (i % 7 == 0) core->EndSession(session.session, "test").IgnoreError();
      }
      core->ResetDevice(0, [](const std::string&, uint64_t, bool) {});
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  for (std::thread& thread : threads) thread.join();
  admin.join();
}

TEST_F(SessionThreads, TheHousekeeperEndsLateCommandsAndDrains) {
  StartThreads();
  ThreadedClient client(*core);
  BatchRequest batch;
  batch.first_value = 1;
  batch.start_within_ms = 20;
  batch.commands = {Allocate(1, 1024), StreamedWrite(1, 0, 1024)};
  ASSERT_TRUE(client.session().Submit(batch).ok());
  client.WaitFor(2);
  EXPECT_EQ(client.errors(), 1u);
  std::atomic<bool> done{false};
  core->Drain(50, [&done](const std::string&, uint64_t, bool last) { done = last; });
  Status status;
  const TimePoint deadline = SteadyClock().Now() + seconds(10);
  while (!client.session().finished(&status) && SteadyClock().Now() < deadline) {
    client.session().TakeOutput(1 << 20);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  while (!done && SteadyClock().Now() < deadline) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(done);
}

TEST_F(SessionThreads, TheHeartbeatGoesOnWhileIdle) {
  options.engine.idle_tick = milliseconds(5);
  StartThreads();
  const uint64_t before = core->heartbeat();
  const TimePoint deadline = SteadyClock().Now() + seconds(10);
  while (core->heartbeat() < before + 3 && SteadyClock().Now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GE(core->heartbeat(), before + 3);
}

}  // namespace
}  // namespace ttfd
