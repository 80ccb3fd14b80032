// The daemon's core on the embedded device with its threads, and clients of it whose results are checked.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/core/daemon.h"
#include "firmware/kernel_elfs.h"
#include "tests/support/core_on_device.h"
#include "tests/support/threaded_client.h"

namespace ttfd {

inline constexpr uint32_t kPage = 1024;

// A client gets its error before the card is repaired; the daemon's status follows. True once it shows `resets`.
inline bool AwaitResets(Daemon& core, uint32_t resets) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    const StatusReply status = core.admin().GetStatus();
    if (status.devices[0].stats.resets >= resets && status.state == DaemonState::kReady) {
      return status.devices[0].stats.resets == resets;
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline AllocateRequest BufferOf(uint64_t handle, uint64_t size) {
  AllocateRequest request;
  request.handle = handle;
  request.size_bytes = size;
  request.page_bytes = kPage;
  request.place = BufferPlace::kDramInterleaved;
  return request;
}

inline WriteRequest Write(uint64_t buffer, const std::vector<uint32_t>& words) {
  WriteRequest request;
  request.buffer = buffer;
  request.size = words.size() * 4;
  request.is_inline = true;
  request.inline_bytes.assign(reinterpret_cast<const char*>(words.data()), request.size);
  return request;
}

inline LoadKernelRequest KernelOf(uint64_t handle, const char* name) {
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

inline CreateProgramRequest ProgramOf(uint64_t handle, uint64_t kernel, CoreRange cores) {
  CreateProgramRequest request;
  request.handle = handle;
  request.kernels.push_back({kernel, true, hw::kBrisc, {cores}});
  request.circular_buffers.push_back({0, 4, kPage, {cores}});
  request.semaphores.push_back({0, 0, {cores}});
  return request;
}

inline LaunchRequest LaunchOf(uint64_t program, std::optional<uint32_t> timeout_ms = {}) {
  LaunchRequest request;
  request.program = program;
  request.timeout_ms = timeout_ms;
  return request;
}

inline std::vector<uint32_t> Numbers(size_t count, uint32_t seed) {
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = seed = seed * 1664525 + 1013904223;
  return words;
}

// c = a + b on every tile of the grid, checked; handles 1 to 5.
class Adder {
 public:
  Adder(DaemonService& core, uint32_t seed) : client(core), seed_(seed) {
    const GridSize grid = client.session().welcome().devices->front().card.grid;
    cores_ = grid.x * grid.y;
    bytes_ = uint64_t{cores_} * kPage;
    client.Send({BufferOf(1, bytes_), BufferOf(2, bytes_), BufferOf(3, bytes_),
                 KernelOf(4, "vector_add"), ProgramOf(5, 4, {0, 0, grid.x - 1, grid.y - 1})});
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

class DaemonOnDevice : public ::testing::Test {
 protected:
  void SetUp() override { Start(MakeCoreOnDevice()); }
  void Start(CoreOnDevice made) {
    ASSERT_NE(made.core, nullptr);
    device_ = std::move(made.device);
    core = std::move(made.core);
    const Status started = core->Start();
    ASSERT_TRUE(started.ok()) << StatusMessage(started);
  }
  void TearDown() override {
    const Status stopped = core->Stop(SteadyClock().Now() + std::chrono::seconds(10));
    EXPECT_TRUE(stopped.ok()) << StatusMessage(stopped);
    const StatusReply status = core->admin().GetStatus();
    for (const MemoryUseReply& use : status.devices[0].memory)
      EXPECT_EQ(use.used_bytes, 0u) << static_cast<int>(use.kind);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Daemon> core;
};

}  // namespace ttfd
