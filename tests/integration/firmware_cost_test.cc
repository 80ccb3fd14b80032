// What firmware costs, in instructions, counted on the model: equal in every run, so a bound is a test
// and no benchmark.
#include "tests/support/firmware_cost.h"

#include "tests/support/firmware_test.h"
#include "tests/support/test_device.h"

namespace ttfd::testing::firmware_cost_test {
namespace {

CommandCost Counted(const char* what, const StatusOr<CommandCost>& cost) {
  EXPECT_TRUE(cost.ok()) << cost.status().ToString();
  if (!cost.ok()) return {~0u, ~0u, ~0u, ~0u};
  std::printf("%s: prefetch %lu, dispatch %lu, dispatch_s %lu, worker %lu instructions\n", what,
              cost->prefetch, cost->dispatch, cost->dispatch_s, cost->worker);
  return *cost;
}

class FirmwareCost : public ::testing::Test {
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("counts instructions");
    if (TestDeviceIsHostile()) GTEST_SKIP() << "with hazards on, harts poll longer";
  }
};

TEST_F(FirmwareCost, OfACachedLaunch) {
  const CommandCost cost = Counted("launch", CachedLaunchCost());
  EXPECT_LE(cost.busiest(), 340u);
  EXPECT_LE(cost.worker, 60u);
}

TEST_F(FirmwareCost, OfATracedLaunch) {
  const CommandCost cost = Counted("traced launch", TracedLaunchCost());
  EXPECT_LE(cost.busiest(), 200u);
  EXPECT_LE(cost.worker, 60u);
}

TEST_F(FirmwareCost, OfABareEvent) {
  EXPECT_LE(Counted("bare event", BareEventCost()).pipeline(), 325u);
}

TEST_F(FirmwareCost, OfAFullEvent) {
  EXPECT_LE(Counted("full event", FullEventCost()).pipeline(), 645u);
}

TEST_F(FirmwareCost, OfInlineWrites) {
  EXPECT_LE(Counted("inline write of 64 B", InlineWriteCost(64)).pipeline(), 350u);
  EXPECT_LE(Counted("inline write of 1 KiB", InlineWriteCost(1024)).pipeline(), 350u);
  EXPECT_LE(Counted("inline write of 64 KiB", InlineWriteCost(64 * 1024)).pipeline(), 760u);
}

TEST_F(FirmwareCost, OfAPageOfAPagedWrite) {
  EXPECT_LE(Counted("page of 2 KiB", PagedWriteCost()).pipeline(), 56u);
}

}  // namespace
}  // namespace ttfd::testing::firmware_cost_test
