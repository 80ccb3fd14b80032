// The daemon's core on the embedded device: sessions side by side, kernels that fault or hang, a card that comes back.
#include "daemon/session/daemon_core.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "firmware/kernel_elfs.h"
#include "tests/support/test_device.h"
#include "tests/support/threaded_client.h"

namespace ttfd {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr uint32_t kPage = 1024;

AllocateRequest Buffer(uint64_t handle, uint64_t size) {
  AllocateRequest request;
  request.handle = handle;
  request.size_bytes = size;
  request.page_bytes = kPage;
  request.place = BufferPlace::kDramInterleaved;
  return request;
}

WriteRequest Write(uint64_t buffer, const std::vector<uint32_t>& words) {
  WriteRequest request;
  request.buffer = buffer;
  request.size = words.size() * 4;
  request.is_inline = true;
  request.inline_bytes.assign(reinterpret_cast<const char*>(words.data()), request.size);
  return request;
}

LoadKernelRequest Kernel(uint64_t handle, const char* name) {
  const ByteSpan elf = KernelElf(name);
  EXPECT_FALSE(elf.empty()) << name;
  LoadKernelRequest request;
  request.handle = handle;
  request.name = name;
  request.size = elf.size();
  request.is_inline = true;
  request.inline_bytes.assign(reinterpret_cast<const char*>(elf.data()), elf.size());
  return request;
}

CreateProgramRequest Program(uint64_t handle, uint64_t kernel, CoreRange cores) {
  CreateProgramRequest request;
  request.handle = handle;
  request.kernels.push_back({kernel, true, hw::kBrisc, {cores}});
  request.circular_buffers.push_back({{0, 4, kPage, {cores}}, 0});
  request.semaphores.push_back({0, 0, {cores}});
  return request;
}

LaunchRequest LaunchOf(uint64_t program, uint32_t timeout_ms = 0) {
  LaunchRequest request;
  request.program = program;
  request.timeout_ms = timeout_ms;
  return request;
}

std::vector<uint32_t> Numbers(size_t count, uint32_t seed) {
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = seed = seed * 1664525 + 1013904223;
  return words;
}

// c = a + b on every tile of the grid, checked; handles 1 to 5.
class Adder {
 public:
  Adder(DaemonService& core, uint32_t seed) : client(core), seed_(seed) {
    const GridSize grid = client.session().welcome().devices[0].card.grid;
    cores_ = grid.x * grid.y;
    bytes_ = uint64_t{cores_} * kPage;
    client.Send({Buffer(1, bytes_), Buffer(2, bytes_), Buffer(3, bytes_), Kernel(4, "vector_add"),
                 Program(5, 4, {0, 0, grid.x - 1, grid.y - 1})});
    client.WaitFor(client.sent());
    EXPECT_TRUE(client.errors().empty());
  }

  // One round; the value of its first command.
  uint64_t Send(uint64_t clears_error = 0) {
    a_ = Numbers(bytes_ / 4, ++seed_);
    b_ = Numbers(bytes_ / 4, ++seed_);
    LaunchRequest launch = LaunchOf(5);
    ArgumentsRequest arguments;
    arguments.common = {0, 0, 0, kPage};
    arguments.words_per_core = 2;
    for (uint32_t core = 0; core < cores_; ++core) {
      arguments.per_core.push_back(core);
      arguments.per_core.push_back(1);
    }
    arguments.buffers = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}};
    launch.arguments.push_back(arguments);
    const uint64_t first = client.sent() + 1;
    // In pieces below the limit of inline bytes.
    std::vector<Request> commands;
    for (uint64_t handle : {1, 2}) {
      const std::vector<uint32_t>& words = handle == 1 ? a_ : b_;
      for (uint64_t offset = 0; offset < bytes_; offset += 32 * kPage) {
        const size_t count = std::min<uint64_t>(32 * kPage, bytes_ - offset) / 4;
        const auto begin = words.begin() + static_cast<ptrdiff_t>(offset / 4);
        WriteRequest write = Write(handle, {begin, begin + static_cast<ptrdiff_t>(count)});
        write.offset = offset;
        commands.push_back(std::move(write));
      }
    }
    commands.push_back(std::move(launch));
    commands.push_back(ReadRequest{3, 0, bytes_});
    client.Send(std::move(commands), clears_error);
    return first;
  }

  bool Right() {
    const std::string data = client.WaitFor(client.sent());
    if (data.size() != bytes_) return false;
    for (size_t i = 0; i < a_.size(); ++i) {
      if (LoadAt<uint32_t>(data.data() + 4 * i) != a_[i] + b_[i]) return false;
    }
    return true;
  }

  ThreadedClient client;

 private:
  uint32_t seed_;
  uint32_t cores_ = 0;
  uint64_t bytes_ = 0;
  std::vector<uint32_t> a_, b_;
};

class DaemonCoreOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenTestDevice("sim:board=p100a");
    ASSERT_TRUE(device.ok());
    device_ = *std::move(device);
    auto dispatcher = Dispatcher::Create(*device_, SteadyClock(), {});
    ASSERT_TRUE(dispatcher.ok());
    auto created = DaemonCore::Create(*std::move(dispatcher), SteadyClock(), {});
    ASSERT_TRUE(created.ok());
    core = *std::move(created);
    const Status started = core->Start();
    ASSERT_TRUE(started.ok()) << StatusMessage(started);
  }
  void TearDown() override {
    const Status stopped = core->Stop(SteadyClock().Now() + seconds(10));
    EXPECT_TRUE(stopped.ok()) << StatusMessage(stopped);
    for (const MemoryUseReply& use : core->GetStatus().memory)
      EXPECT_EQ(use.used_bytes, 0u) << use.kind;
  }

  // Runs a bad kernel behind a write, expects its launch to be the one that pays.
  void ExpectCulprit(const char* kernel, const char* reason, uint32_t timeout_ms,
                     bool counts = false) {
    ThreadedClient bad(*core);
    LaunchRequest launch = LaunchOf(3, timeout_ms);
    if (counts) launch.arguments.push_back({0, {0xB0000}, {}, 0, {}});
    bad.Send({Buffer(1, kPage), Kernel(2, kernel), Program(3, 2, {1, 1, 1, 1}),
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

  std::unique_ptr<Device> device_;
  std::unique_ptr<DaemonCore> core;
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
  EXPECT_EQ(core->GetStatus().launches_completed, 30u);
}

TEST_F(DaemonCoreOnDevice, AKernelThatFaultsCostsItsLaunch) {
  ExpectCulprit("fault", "DEVICE_FAULT", 0);
  EXPECT_THAT(message, HasSubstr("BRISC"));
  EXPECT_THAT(message, HasSubstr("pc"));
  EXPECT_EQ(core->GetStatus().device_resets, 1u);
  EXPECT_EQ(core->GetStatus().state, "ready");
}

TEST_F(DaemonCoreOnDevice, AKernelThatWaitsForEverIsFoundAtOnce) {
  const TimePoint before = SteadyClock().Now();
  ExpectCulprit("wait_forever", "HANG", 60'000);
  EXPECT_LT(SteadyClock().Now() - before, seconds(30)) << "long before its timeout";
}

TEST_F(DaemonCoreOnDevice, AKernelThatSpinsIsFoundByItsTimeout) {
  ExpectCulprit("spin", "HANG", 200, true);
  EXPECT_THAT(message, HasSubstr("200 ms"));
}

TEST_F(DaemonCoreOnDevice, OthersGoOnBesideBadKernels) {
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
    ExpectCulprit("fault", "DEVICE_FAULT", 0);
    ExpectCulprit("wait_forever", "HANG", 60'000);
  }
  const int after_faults = right;
  const TimePoint deadline = SteadyClock().Now() + seconds(20);
  while (right < after_faults + 4 && SteadyClock().Now() < deadline) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(right, after_faults + 4);
  EXPECT_EQ(core->GetStatus().device_resets, 6u);
}

TEST_F(DaemonCoreOnDevice, AResetByTheAdministratorKeepsMemory) {
  ThreadedClient client(*core);
  client.Send({Buffer(1, kPage), Write(1, Numbers(256, 7))});
  client.WaitFor(2);
  std::atomic<bool> done{false};
  ASSERT_TRUE(core->ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
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
    const uint64_t value = client.Send({Buffer(1, 1 << 20), write}) + 1;
    for (uint64_t i = 0; i < static_cast<uint64_t>(round); ++i) {
      EXPECT_TRUE(client.session().Supply({0, value, i << 16, std::string(1 << 16, 'x')}).ok());
    }
    client.session().Abandon();
  }
  // The next owner of that memory sees zeros.
  ThreadedClient client(*core);
  client.Send({Buffer(1, 1 << 20), ReadRequest{1, 0, 1 << 20}});
  EXPECT_EQ(client.WaitFor(2), std::string(1 << 20, '\0'));
}

}  // namespace
}  // namespace ttfd
