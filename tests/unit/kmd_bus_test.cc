// The system's own calls, on files in place of a device: what a withdrawn mapping does to the process.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "runtime/base/unique_fd.h"
#include "runtime/device/kmd/linux_system.h"

namespace ttfd::kmd_bus_test {
namespace {

using kmd::Mapping;

class KmdBus : public testing::Test {
 protected:
  static constexpr size_t kSize = 1 << 16;

  // A file that can be mapped as a device can; Withdraw() makes the next access a SIGBUS.
  void SetUp() override {
    file_ = UniqueFd(memfd_create("window", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file_.get(), kSize), 0);
    const std::string path = fmt::format("/proc/self/fd/{}", file_.get());
    descriptor_ = kernel().Open(path);
    ASSERT_GE(descriptor_, 0);
    ASSERT_EQ(kernel().Map(descriptor_, 0, kSize, &mapping_), 0);
  }
  void TearDown() override {
    EXPECT_EQ(kernel().Unmap(mapping_), 0);
    EXPECT_EQ(kernel().Close(descriptor_), 0);
  }
  void Withdraw() { ASSERT_EQ(ftruncate(file_.get(), 0), 0); }

  static kmd::Kernel& kernel() { return *kmd::LinuxSystem().kernel; }
  static kmd::Bus& bus() { return *kmd::LinuxSystem().bus; }
  const Mapping& mapping() const { return mapping_; }

 private:
  UniqueFd file_;
  int descriptor_ = -1;
  Mapping mapping_;
};

TEST_F(KmdBus, StoresAndLoadsWhatItIsGiven) {
  EXPECT_TRUE(bus().Store(mapping(), 0, 0x11223344, 4));
  EXPECT_TRUE(bus().Store(mapping(), 2, 0xAABB, 2));
  EXPECT_TRUE(bus().Store(mapping(), 1, 0xCC, 1));
  uint32_t value = 0;
  EXPECT_TRUE(bus().Load(mapping(), 0, &value));
  EXPECT_EQ(value, 0xAABBCC44u);
  const std::vector<uint32_t> words = {1, 2, 3};
  EXPECT_TRUE(bus().StoreBulk(mapping(), 8, std::as_bytes(std::span(words))));
  bus().StoreFence();
  EXPECT_TRUE(bus().Load(mapping(), 16, &value));
  EXPECT_EQ(value, 3u);
}

TEST_F(KmdBus, AccessesToAWithdrawnMappingFail) {
  uint32_t value = 7;
  Withdraw();
  EXPECT_FALSE(bus().Load(mapping(), 0x1000, &value));
}

TEST_F(KmdBus, EveryKindOfStoreToAWithdrawnMappingFails) {
  const std::vector<std::byte> words(4096);
  const std::function<bool()> kStores[] = {
      [&] { return bus().Store(mapping(), 0, 1, 4); },
      [&] { return bus().Store(mapping(), 0, 1, 1); },
      [&] { return bus().StoreBulk(mapping(), 0, words); },
  };
  for (const auto& store : kStores) {
    Withdraw();
    EXPECT_FALSE(store());
    TearDown();
    SetUp();
  }
}

TEST_F(KmdBus, ThreadsThatLoseTheirMappingsAtOnceAllLearnIt) {
  Withdraw();
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const int file = memfd_create("window", MFD_CLOEXEC);
      Mapping mapping;
      ASSERT_EQ(ftruncate(file, kSize), 0);
      ASSERT_EQ(kernel().Map(file, 0, kSize, &mapping), 0);
      ASSERT_EQ(ftruncate(file, 0), 0);
      failed += bus().Store(mapping, 64, 1, 4) ? 0 : 1;
      kernel().Unmap(mapping);
      kernel().Close(file);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 4);
}

// The handler stands before those of debuggers and sanitizers, and before the default action.
TEST_F(KmdBus, OtherBadAccessesStillEndTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  bus();
  Withdraw();
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(mapping().begin) = 1, "");
  EXPECT_DEATH(raise(SIGSEGV), "");
}

TEST_F(KmdBus, ErrorsAreNegativeErrnos) {
  EXPECT_EQ(kernel().Open("/proc/no such node"), -ENOENT);
  EXPECT_EQ(kernel().Ioctl(-1, 0xFA00, nullptr), -EBADF);
  Mapping none;
  EXPECT_EQ(kernel().Map(-1, 0, kSize, &none), -EBADF);
  EXPECT_EQ(kmd::LinuxSystem().files->ReadText("/proc/no such file"), std::nullopt);
  EXPECT_EQ(kmd::LinuxSystem().files->ReadText("/proc/self/comm"), "kmd_test");
}

}  // namespace
}  // namespace ttfd::kmd_bus_test
