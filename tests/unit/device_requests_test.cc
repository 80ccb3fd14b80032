// The role of the device thread: one thread has it at a time, and no wake is lost.
#include "daemon/card/device_requests.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace ttfd::device_requests_test {
namespace {

// Work that other threads post, and a device thread that does it with the role of DeviceRequests.
class DeviceRequestsTest : public ::testing::Test {
 protected:
  void Start(bool lend, bool brief = true) {
    brief_ = brief;
    device_ = std::thread([this, lend] {
      while (!requests.stopping()) {
        Work();
        requests.Sleep(TimePoint::max(), /*busy=*/false, lend);
      }
    });
  }
  ~DeviceRequestsTest() override {
    requests.Stop(TimePoint::max());
    device_.join();
  }

  void Post() {
    ++posted;
    requests.Wake(brief_);
  }
  // One round of the holder of the role.
  void Work() {
    EXPECT_FALSE(at_work_.exchange(true)) << "two threads have the role";
    for (const DeviceRequests::Request& request : requests.Take()) request(OkStatus());
    done = posted.load();
    at_work_ = false;
  }
  bool AllIsDone() const {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         std::chrono::steady_clock::now() < end; std::this_thread::yield()) {
      if (done == posted) return true;
    }
    return false;
  }

  DeviceRequests requests;
  std::atomic<int> posted{0}, done{0};
  std::atomic<bool> taken{false};  // a request

 private:
  bool brief_ = true;
  std::atomic<bool> at_work_{false};
  std::thread device_;
};

// The device thread lends its role or not, and the work is brief or not.
class DeviceRequestsNotBorrowed : public DeviceRequestsTest,
                                  public ::testing::WithParamInterface<std::pair<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(, DeviceRequestsNotBorrowed,
                         ::testing::Values(std::pair(false, true), std::pair(true, false)));

TEST_P(DeviceRequestsNotBorrowed, TheDeviceThreadDoesTheWork) {
  Start(GetParam().first, GetParam().second);
  requests.SetBorrower(true);
  for (int i = 0; i < 100; ++i) {
    Post();
    ASSERT_FALSE(requests.borrowed());
    ASSERT_TRUE(AllIsDone());
  }
}

TEST_F(DeviceRequestsTest, TheBorrowerDoesTheWorkAndTheDeviceThreadTheRest) {
  Start(/*lend=*/true);
  requests.SetBorrower(true);
  int borrowed = 0;
  for (int i = 0; i < 100 || (borrowed < 20 && i < 1'000'000); ++i) {
    Post();
    if (!requests.borrowed()) continue;  // it was not asleep
    ++borrowed;
    requests.Add([this](const Status&) { taken = true; });
    requests.TakeWake();
    EXPECT_TRUE(requests.pending()) << "what was added is left";
    requests.Return(/*more=*/false, TimePoint::max());
    EXPECT_TRUE(AllIsDone()) << "and the device thread is woken for it";
  }
  EXPECT_GE(borrowed, 20);
}

TEST_F(DeviceRequestsTest, ADueTimeThatComesEarlierEndsTheSleep) {
  Start(/*lend=*/true);
  requests.SetBorrower(true);
  do Post();
  while (!requests.borrowed());
  requests.TakeWake();
  requests.Return(/*more=*/false, TimePoint::min());
  EXPECT_TRUE(AllIsDone());
}

TEST_F(DeviceRequestsTest, BorrowingDoesNotKeepTheDeviceThreadFromARequest) {
  Start(/*lend=*/true);
  requests.SetBorrower(true);
  for (int round = 0; round < 50; ++round) {
    taken = false;
    requests.Add([this](const Status&) { taken = true; });
    int before = 0;  // loans before the request was taken
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         !taken && std::chrono::steady_clock::now() < end;) {
      Post();
      if (!requests.borrowed()) continue;
      before += taken ? 0 : 1;
      requests.TakeWake();
      requests.Return(/*more=*/false, TimePoint::max());
    }
    ASSERT_TRUE(taken);
    ASSERT_LE(before, 1);
  }
}

TEST_F(DeviceRequestsTest, NoWakeIsLostBetweenThreads) {
  Start(/*lend=*/true);
  requests.SetBorrower(true);
  for (int round = 0; round < 300; ++round) {
    std::thread other([this] {
      for (int i = 0; i < 20; ++i) Post();
    });
    for (int i = 0; i < 20; ++i) {
      Post();
      if (!requests.borrowed()) continue;
      Work();
      requests.Return(/*more=*/i % 3 == 0, TimePoint::max());
    }
    other.join();
    ASSERT_TRUE(AllIsDone()) << round;
  }
}

}  // namespace
}  // namespace ttfd::device_requests_test
