// Events in the model's time: when they happen, in which order, and among which harts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/sim/scheduler.h"
#include "runtime/sim/sparse_memory.h"
#include "runtime/sim/tensix_tile.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::sim::sim_scheduler_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint64_t kForEver = std::numeric_limits<uint64_t>::max() / 2;
constexpr uint32_t kFlag = 0x9000;
constexpr uint32_t kCount = 0x9100;

// One tile and the clock, nothing else of a chip.
class SchedulerEvents : public ::testing::Test {
 protected:
  SchedulerEvents() {
    machine_.scheduler = &scheduler_;
    memory_ = SparseMemory::Map(TileMemory::kBytes).value();
    tile_.Init(machine_, TileMemory(memory_.data()), {1, 2}, {1, 2});
  }

  // An event that leaves its name and the clock.
  void Note(uint64_t clock, int name) {
    scheduler_.At(clock, [this, name] { happened_.emplace_back(name, scheduler_.now()); });
  }
  void StartBrisc(const Rv32Asm& program) {
    std::memcpy(tile_.memory().l1(), program.bytes().data(), program.bytes().size());
    ASSERT_FALSE(tile_.WriteRegister(Accessor::FromNoc(), hw::kSoftReset0,
                                     hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  }
  void SetWord(uint32_t address, uint32_t value) {
    StoreAt(tile_.memory().l1() + address, value);
    tile_.WroteMemory(address, 4);
  }
  uint32_t word(uint32_t address) { return LoadAt<uint32_t>(tile_.memory().l1() + address); }

  // Counts for ever, in a word.
  static Rv32Asm Busy() {
    Rv32Asm a;
    a.Li(kS0, kCount);
    const Rv32Asm::Label loop = a.Here();
    a.Addi(kT0, kT0, 1);
    a.Sw(kT0, kS0, 0);
    a.Jump(loop);
    return a;
  }
  // Waits until the flag is set, copies it, stays in a loop that parks.
  static Rv32Asm AwaitFlag() {
    Rv32Asm a;
    a.Li(kS0, kFlag);
    a.Li(kS1, kCount);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Beq(kT0, kZero, loop);
    a.Sw(kT0, kS1, 0);
    const Rv32Asm::Label end = a.Here();
    a.Fence();
    a.Jump(end);
    return a;
  }

  Machine machine_;
  Scheduler scheduler_{machine_};
  SparseMemory memory_;
  TensixTile tile_;
  std::vector<std::pair<int, uint64_t>> happened_;
};

TEST_F(SchedulerEvents, HappenInOrderOfClockThenOfTheCalls) {
  Note(70, 1);
  Note(30, 2);
  Note(70, 3);
  Note(30, 4);
  Note(50, 5);
  EXPECT_EQ(scheduler_.Advance(kForEver), 70u);
  EXPECT_THAT(happened_,
              ElementsAre(Pair(2, 30), Pair(4, 30), Pair(5, 50), Pair(1, 70), Pair(3, 70)));
}

TEST_F(SchedulerEvents, NothingIsLeftOnlyWhenTheLastEventHasHappened) {
  EXPECT_TRUE(scheduler_.idle());
  Note(10'000, 1);
  EXPECT_FALSE(scheduler_.idle());
  EXPECT_EQ(scheduler_.Advance(9'999), 9'999u);
  EXPECT_FALSE(scheduler_.idle());
  EXPECT_TRUE(happened_.empty());
  EXPECT_EQ(scheduler_.Advance(kForEver), 1u);
  EXPECT_TRUE(scheduler_.idle());
  EXPECT_THAT(happened_, ElementsAre(Pair(1, 10'000)));
}

TEST_F(SchedulerEvents, AnEventAtTheEndOfACallWaitsForTheNext) {
  Note(100, 1);
  EXPECT_EQ(scheduler_.Advance(100), 100u);
  EXPECT_TRUE(happened_.empty());
  EXPECT_EQ(scheduler_.Advance(100), 0u);
  EXPECT_THAT(happened_, ElementsAre(Pair(1, 100)));
}

TEST_F(SchedulerEvents, AnEventMayAskForMore) {
  scheduler_.At(10, [this] {
    Note(5, 1);  // has passed
    Note(10, 2);
    Note(25, 3);
  });
  EXPECT_EQ(scheduler_.Advance(kForEver), 25u);
  EXPECT_THAT(happened_, ElementsAre(Pair(1, 10), Pair(2, 10), Pair(3, 25)));
}

TEST_F(SchedulerEvents, ResetForgetsThem) {
  Note(10, 1);
  scheduler_.Reset();
  EXPECT_TRUE(scheduler_.idle());
  EXPECT_EQ(scheduler_.Advance(kForEver), 0u);
  EXPECT_TRUE(happened_.empty());
}

TEST_F(SchedulerEvents, GoOnOnceAFaultIsReported) {
  Note(20, 1);
  Note(20, 2);
  scheduler_.At(10, [this] { machine_.fault = Fault{}; });
  EXPECT_EQ(scheduler_.Advance(kForEver), 10u);
  EXPECT_TRUE(happened_.empty());
  machine_.fault_reported = true;
  EXPECT_EQ(scheduler_.Advance(kForEver), 10u);
  EXPECT_THAT(happened_, ElementsAre(Pair(1, 20), Pair(2, 20)));
}

TEST_F(SchedulerEvents, ABusyHartStandsWhereTheEventIsDue) {
  StartBrisc(Busy());
  uint32_t counted = 0;
  scheduler_.At(333, [&] { counted = word(kCount); });
  EXPECT_EQ(scheduler_.Advance(5'000), 5'000u);
  EXPECT_NEAR(counted, 111, 2);
  EXPECT_NEAR(word(kCount), 1'667, 2);
  EXPECT_EQ(tile_.hart(hw::kBrisc).retired, 5'000u);
}

TEST_F(SchedulerEvents, TimeJumpsOverTheSleepOfParkedHarts) {
  StartBrisc(AwaitFlag());
  scheduler_.At(1'000'000, [this] { SetWord(kFlag, 7); });
  const uint64_t clocks = scheduler_.Advance(kForEver);
  EXPECT_TRUE(scheduler_.idle());
  EXPECT_GT(clocks, 1'000'000u);
  EXPECT_LT(clocks, 1'000'100u);
  EXPECT_EQ(word(kCount), 7u);
  EXPECT_LT(tile_.hart(hw::kBrisc).retired, 100u);  // it slept
}

TEST_F(SchedulerEvents, AHartWokenByAnEventGoesOnAtItsClock) {
  StartBrisc(AwaitFlag());
  scheduler_.At(500, [this] {
    SetWord(kFlag, 7);
    EXPECT_EQ(tile_.hart(hw::kBrisc).time, 500u);
  });
  scheduler_.Advance(kForEver);
  EXPECT_EQ(word(kCount), 7u);
}

}  // namespace
}  // namespace ttfd::sim::sim_scheduler_test
