// How a host waits for a card.
#include "runtime/device/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ttfd::wait_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Backoff, SpinsThenPausesLongerAndLonger) {
  ManualClock clock;
  Backoff backoff(microseconds(30));
  for (int i = 0; i < 2; ++i) {
    std::vector<int64_t> pauses;
    for (int look = 0; look < 10; ++look) {
      const Duration pause = backoff.Next(clock.Now());
      pauses.push_back(pause / microseconds(1));
      clock.Advance(pause == Duration::zero() ? microseconds(10) : pause);
    }
    EXPECT_THAT(pauses, testing::ElementsAre(0, 0, 0, 20, 40, 80, 160, 320, 500, 500));
    backoff.Restart();
  }
}

TEST(WaitUntil, PausesOnlyWhereTheCardRunsByItself) {
  for (const bool by_itself : {false, true}) {
    ManualClock clock;
    DeviceInfo info;
    info.runs_by_itself = by_itself;
    int steps = 0;
    const auto never = []() -> StatusOr<bool> { return false; };
    const auto step = [&]() -> StatusOr<bool> {
      ++steps;
      clock.Advance(microseconds(1));
      return true;
    };
    const auto late = [&] { return clock.Now() >= TimePoint(milliseconds(100)); };
    const auto waited = WaitUntil(never, step, late, NoTick, Pacing(info, clock));
    ASSERT_TRUE(waited.ok());
    EXPECT_EQ(*waited, Waited::kLate);
    if (by_itself) {
      EXPECT_LT(steps, 50 + 100'000 / 500 + 10) << "spins, then pauses";
    } else {
      EXPECT_EQ(steps, 100'000);
    }
  }
}

}  // namespace
}  // namespace ttfd::wait_test
