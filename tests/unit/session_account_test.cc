// What a session had, and how long it waited: quantiles are never too small, and never far too large.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "daemon/session/account.h"
#include "daemon/session/session_figures.h"
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

// Figures of a session after these slices have ended.
SessionInfoReply After(std::span<const Slice> ended) {
  SessionFigures figures(SessionShare{}, SessionClient{}, TimePoint());
  figures.Add(ended);
  EXPECT_EQ(figures.Info(TimePoint(), false).device_ns, 0u);
  figures.Publish([](SessionInfoReply*) {});
  figures.Publish([](SessionInfoReply*) {});
  return figures.Info(TimePoint(), false);
}

TEST(SessionFigures, ACommandWaitsOnceHoweverManySlicesItHas) {
  std::array<Slice, 2> slices;
  slices[0].bytes = slices[1].bytes = 100;
  slices[0].times.arrived = slices[1].times.arrived = TimePoint(microseconds(10));
  slices[0].times.began = TimePoint(microseconds(30));
  slices[0].times.device_time = microseconds(7);
  slices[1].first = false;
  slices[1].times.began = TimePoint(microseconds(500));
  slices[1].times.device_time = microseconds(9);
  const SessionInfoReply info = After(slices);
  EXPECT_EQ(info.waits.count, 1u);
  EXPECT_EQ(info.waits.max_ns, 20'000u);
  EXPECT_EQ(info.device_ns, 16'000u);
  EXPECT_EQ(info.longest_work_ns, 9'000u);
  EXPECT_EQ(info.bytes_written, 200u);
}

TEST(SessionFigures, LaunchesAndReadsAreCountedApart) {
  std::array<Slice, 2> slices;
  slices[0].bytes = 64;
  slices[0].read = std::make_unique<ReadPart>(nullptr, 0, 64);
  slices[1].launches = 50;
  const SessionInfoReply info = After(slices);
  EXPECT_EQ(info.bytes_read, 64u);
  EXPECT_EQ(info.bytes_written, 0u);
  EXPECT_EQ(info.launches, 50u);
}

}  // namespace
}  // namespace ttfd::session_account_test
