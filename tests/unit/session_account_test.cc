// What a session had, and how long it waited: quantiles are never too small, and never far too large.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "daemon/session/account.h"
#include "tests/support/random.h"

namespace ttfd::session_account_test {
namespace {

using std::chrono::microseconds;

TEST(WaitHistogram, NothingHasWaited) {
  const WaitHistogram waits;
  EXPECT_EQ(waits.Quantile(0.99), Duration::zero());
  EXPECT_EQ(waits.count(), 0u);
}

TEST(WaitHistogram, AWaitThatIsNegativeIsNone) {
  WaitHistogram waits;
  waits.Add(microseconds(-5));
  EXPECT_EQ(waits.total(), Duration::zero());
  EXPECT_EQ(waits.count(), 1u);
}

TEST(WaitHistogram, QuantilesAreAtMostASixteenthTooLarge) {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    WaitHistogram waits;
    std::vector<Duration> all;
    for (int i = 0; i < 1000; ++i) {
      const Duration wait = microseconds(random() >> (random() % 32));
      all.push_back(wait);
      waits.Add(wait);
    }
    std::sort(all.begin(), all.end());
    for (const double part : {0.01, 0.5, 0.9, 0.99, 1.0}) {
      const Duration right = all[static_cast<size_t>(part * 1000) - 1];
      EXPECT_GE(waits.Quantile(part), right);
      EXPECT_LE(waits.Quantile(part), right + right / 16 + microseconds(1));
    }
    EXPECT_EQ(waits.max(), all.back());
  }
}

TEST(WaitHistogram, TheLongestWaitsHaveAPlace) {
  WaitHistogram waits;
  waits.Add(std::chrono::hours(1000));
  EXPECT_GT(waits.Quantile(0.5), std::chrono::hours(15));
  EXPECT_EQ(waits.max(), std::chrono::hours(1000));
}

TEST(SessionAccount, ACommandWaitsOnceHoweverManySlicesItHas) {
  SessionAccount account;
  Slice slice;
  slice.bytes = 100;
  slice.times.arrived = TimePoint(microseconds(10));
  slice.times.began = TimePoint(microseconds(30));
  slice.times.device_time = microseconds(7);
  account.Add(slice);
  slice.first = false;
  slice.times.began = TimePoint(microseconds(500));
  slice.times.device_time = microseconds(9);
  account.Add(slice);
  EXPECT_EQ(account.waits.count(), 1u);
  EXPECT_EQ(account.waits.max(), microseconds(20));
  EXPECT_EQ(account.device_time, microseconds(16));
  EXPECT_EQ(account.longest_work, microseconds(9));
  EXPECT_EQ(account.bytes_written, 200u);
}

TEST(SessionAccount, LaunchesAndReadsAreCountedApart) {
  SessionAccount account;
  Slice read;
  read.bytes = 64;
  read.read = std::make_unique<ReadPart>(nullptr, 0, 64);
  account.Add(read);
  Slice replay;
  replay.launches = 50;
  account.Add(replay);
  EXPECT_EQ(account.bytes_read, 64u);
  EXPECT_EQ(account.bytes_written, 0u);
  EXPECT_EQ(account.launches, 50u);
}

}  // namespace
}  // namespace ttfd::session_account_test
