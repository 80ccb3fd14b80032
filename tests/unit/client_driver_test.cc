// The driver role: who moves the stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "client/cpp/src/stream_driver.h"

namespace ttfd::client {
namespace {

constexpr std::chrono::seconds kLong{10};

// Move returns at once, or sleeps until it is notified.
class TestDriver final : public StreamDriver {
 public:
  explicit TestDriver(bool sleeps, std::function<bool()> interrupted = {})
      : StreamDriver(std::move(interrupted)), sleeps_(sleeps) {}
  ~TestDriver() override { StopBackground(); }

  void End() {
    MutexLock lock(&mu);
    end_ = true;
    Notify();
  }
  // Until a thread is inside Move.
  bool WaitForMover() {
    MutexLock lock(&mu);
    const Instant deadline = std::chrono::steady_clock::now() + kLong;
    while (inside_ == 0 && std::chrono::steady_clock::now() < deadline) {
      entered_.WaitUntil(&mu, deadline);
    }
    return inside_ != 0;
  }
  int most_inside() {
    MutexLock lock(&mu);
    return most_inside_;
  }

 private:
  void Move(Instant deadline) override {
    mu.AssertHeld();
    most_inside_ = std::max(most_inside_, ++inside_);
    entered_.NotifyAll();
    if (sleeps_) {
      SleepUntil(deadline);
    }
    --inside_;
  }
  bool AtEnd() const override { return end_; }

  const bool sleeps_;
  Condition entered_;
  int inside_ = 0;
  int most_inside_ = 0;
  bool end_ = false;
};

TEST(ClientDriver, Until_MovesOnCallersThread) {
  TestDriver driver(/*sleeps=*/false);
  MutexLock lock(&driver.mu);
  int checks = 0;
  EXPECT_TRUE(driver.Until(std::chrono::steady_clock::now() + kLong, [&] { return ++checks > 3; }));
}

TEST(ClientDriver, Until_EndsAtDeadline) {
  TestDriver driver(/*sleeps=*/true);
  MutexLock lock(&driver.mu);
  EXPECT_FALSE(driver.Until(std::chrono::steady_clock::now() + std::chrono::milliseconds(5),
                            [] { return false; }));
}

TEST(ClientDriver, Until_EndsWhenInterrupted) {
  int checks = 0;
  TestDriver driver(/*sleeps=*/true, [&] { return ++checks == 3; });
  MutexLock lock(&driver.mu);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(driver.Until(start + kLong, [] { return false; }));
  EXPECT_EQ(checks, 3);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200))
      << "every 100 ms";
}

TEST(ClientDriver, UntilUninterrupted_IgnoresInterrupts) {
  TestDriver driver(/*sleeps=*/true, [] { return true; });
  MutexLock lock(&driver.mu);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(
      driver.UntilUninterrupted(start + std::chrono::milliseconds(150), [] { return false; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(150));
}

TEST(ClientDriver, OnlyOneThreadMoves) {
  TestDriver driver(/*sleeps=*/true);
  std::atomic<int> returned = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      MutexLock lock(&driver.mu);
      driver.Until(std::chrono::steady_clock::now() + kLong, [] { return false; });
      ++returned;
    });
  }
  EXPECT_TRUE(driver.WaitForMover());
  driver.End();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(returned, 4) << "the end wakes those that sleep";
  EXPECT_EQ(driver.most_inside(), 1);
}

TEST(ClientDriver, Background_MovesUntilStopped) {
  TestDriver driver(/*sleeps=*/true);
  driver.StartBackground();
  EXPECT_TRUE(driver.WaitForMover());
  driver.StopBackground();
  EXPECT_EQ(driver.most_inside(), 1);
}

}  // namespace
}  // namespace ttfd::client
