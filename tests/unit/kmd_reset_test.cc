// Resets of the harts and of the chip, what the driver does when the process ends, and the card's clock.
#include "runtime/hw/tensix.h"
#include "tests/support/kmd_fixture.h"

namespace ttfd::kmd_reset_test {
namespace {

using std::chrono::seconds;

class KmdReset : public KmdTest {
 protected:
  void TearDown() override { memory_.reset(), window_.reset(); }
  void Hold() {
    window_ = OpenWindow(kTile);
    memory_ = device().AllocateHostMemory(4096).value();
    ASSERT_TRUE(WriteWord(*window_, 0x200, 5).ok());
  }
  void Drop() { memory_.reset(), window_.reset(); }
  uint32_t SoftReset(hw::Coordinate tile) {
    return standin().windows().ReadAsDriver(tile, hw::kSoftReset0).value();
  }
  // Windows and host memory that were held are of use, and the lock and the pins are there once.
  void ExpectWorks() {
    EXPECT_TRUE(device().CheckPresence().ok());
    EXPECT_EQ(standin().open_files(), 1u);
    EXPECT_EQ(standin().pins().count(), 1u);
    EXPECT_EQ(standin().pins().Translate(memory_->noc_address()), memory_->bytes().data());
    ASSERT_TRUE(WriteWord(*window_, 0x200, 7).ok());
    EXPECT_EQ(*ReadWord(*window_, 0x200), 7u);
    EXPECT_FALSE(TryOpen().ok()) << "the lock is held";
  }

  ManualClock clock_;
  std::unique_ptr<Window> window_;
  std::unique_ptr<HostMemory> memory_;
};

TEST_F(KmdReset, OfTheChipFollowsTheDriversProtocol) {
  Open();
  Hold();
  ASSERT_TRUE(device().HoldOnExit({}).ok());
  StartLog();
  const Status reset = device().ResetChip(clock_, NoTick);
  ASSERT_TRUE(reset.ok()) << reset.ToString();
  EXPECT_GE(clock_.Now() - TimePoint(), seconds(2));
  EXPECT_LT(clock_.Now() - TimePoint(), seconds(3));
  EXPECT_EQ(std::count_if(log().begin(), log().end(),
                          [](const StandinEvent& event) {
                            return event.kind == StandinEvent::kIoctl &&
                                   event.id == kmd::kResetDevice;
                          }),
            2);
  ExpectWorks();
}

TEST_F(KmdReset, OfTheChipFindsTheNodeUnderAnotherNumberWhenItIsBack) {
  Open();
  Hold();
  standin().OnReset([this] { standin().Remove(); });
  int ticks = 0;
  const auto tick = [&] {
    if (++ticks == 100) standin().ComeBackAs(4);
    return OkStatus();
  };
  const Status reset = device().ResetChip(clock_, tick);
  ASSERT_TRUE(reset.ok()) << reset.ToString();
  EXPECT_GE(clock_.Now() - TimePoint(), seconds(4));
  EXPECT_TRUE(WriteWord(*window_, 0x200, 7).ok());
}

TEST_F(KmdReset, OfTheChipEndsWhereItsTickSaysSo) {
  Open();
  Hold();
  const auto stop = [] { return Error(StatusCode::kCancelled, "the daemon stops"); };
  EXPECT_EQ(device().ResetChip(clock_, stop).code(), StatusCode::kCancelled);
  EXPECT_EQ(device().CheckPresence().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(device().Reset().ok());
}

TEST_F(KmdReset, OldDriversLackParts) {
  Open({.version = {2, 1, 0}});
  EXPECT_FALSE(device().info().resets_chip);
  ExpectRefusal(device().ResetChip(clock_, NoTick), StatusCode::kUnimplemented, "cannot reset");
  EXPECT_TRUE(device().HoldOnExit(std::vector{kTile}).ok());
  EXPECT_EQ(standin().open_files(), 1u);
  device().SetInUse(true);
  EXPECT_EQ(standin().power() & kmd::kPowerHighClock, 0);
}

TEST_F(KmdReset, ATileThatIsToBeHeldOnExitIs) {
  constexpr hw::Coordinate kOther = {2, 3}, kFree = {3, 3};
  constexpr uint32_t kRuns = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc;
  Open();
  ASSERT_TRUE(device().HoldOnExit(std::vector{kFree}).ok());
  ASSERT_TRUE(device().HoldOnExit(std::vector{kTile, kOther}).ok());
  EXPECT_EQ(standin().open_files(), 3u);
  for (const hw::Coordinate tile : {kTile, kOther, kFree}) {
    ASSERT_TRUE(WriteWord(*OpenWindow(tile), hw::kSoftReset0, kRuns).ok());
  }
  Close();
  EXPECT_EQ(standin().open_files(), 0u);
  EXPECT_EQ(SoftReset(kTile), hw::kSoftResetAllHarts);
  EXPECT_EQ(SoftReset(kOther), hw::kSoftResetAllHarts);
  EXPECT_EQ(SoftReset(kFree), kRuns) << "it is not named any more";
}

TEST_F(KmdReset, TheClockIsHighWhileTheCardIsInUse) {
  Open();
  const auto high = [this] { return (standin().power() & kmd::kPowerHighClock) != 0; };
  EXPECT_FALSE(high());
  device().SetInUse(true);
  EXPECT_TRUE(high());
  EXPECT_EQ(standin().power() & kmd::kPowerOfAnOpenNode, kmd::kPowerOfAnOpenNode);
  ASSERT_TRUE(device().ResetChip(clock_, NoTick).ok());
  EXPECT_TRUE(high()) << "also after a reset";
  device().SetInUse(false);
  EXPECT_FALSE(high());
}

}  // namespace
}  // namespace ttfd::kmd_reset_test
