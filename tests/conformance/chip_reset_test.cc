// The reset of the whole chip: what it loses is unknown, and everything can be used again.
#include "runtime/base/clock.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::chip_reset_test {
namespace {

class ChipReset : public DeviceTest {};

TEST_P(ChipReset, LeavesWindowsAndHostMemoryToBeUsed) {
  if (!device().info().resets_chip) GTEST_SKIP() << "the driver resets no chip";
  const std::unique_ptr<Window> window = device().OpenWindow(UnicastTarget(kTile)).value();
  const std::unique_ptr<HostMemory> memory = device().AllocateHostMemory(4096).value();
  StoreAt(memory->bytes().data(), uint32_t{7});
  ASSERT_TRUE(ttfd::WriteWord(*window, kResults, 1).ok());
  const Status reset = device().ResetChip(SteadyClock(), NoTick);
  ASSERT_TRUE(reset.ok()) << reset.ToString();
  EXPECT_EQ(*ttfd::ReadWord(*window, hw::kSoftReset0), hw::kSoftResetAllHarts);
  ASSERT_TRUE(ttfd::WriteWord(*window, kResults, 2).ok());
  EXPECT_EQ(*ttfd::ReadWord(*window, kResults), 2u);
  EXPECT_EQ(LoadAt<uint32_t>(memory->bytes().data()), 7u);
}

TTFD_FOR_EVERY_BACKEND(ChipReset);

}  // namespace
}  // namespace ttfd::chip_reset_test
