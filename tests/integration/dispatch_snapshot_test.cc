// What is decided about a stopped card depends on its snapshot alone: it is the same live and from the file that a hang
// report keeps. TTFD_RECORD_SNAPSHOTS=folder keeps the files: those of tests/snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/card/execution_state.h"
#include "runtime/card/snapshot_file.h"
#include "runtime/card/stall_diagnosis.h"
#include "tests/support/bump_counters.h"

namespace ttfd {
namespace {

class DispatchSnapshot : public ::testing::Test {
 protected:
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("no other device reports at once that nothing can move");
  }

  // A launch of a kernel that never ends, on one tile.
  LaunchCommand Endless(uint32_t x, uint32_t y) {
    ProgramSpec spec;
    spec.kernels.push_back({TestKernel("wait_for_ever_brisc"), hw::kBrisc, {{x, y, x, y}}});
    spec.semaphores.push_back({0, 0, {{x, y, x, y}}});
    return {TestProgram(spec, card_->description().grid), {KernelArguments{}}};
  }
  LaunchCommand Ending(const CoreRange& cores) {
    return counters_.Launch(counters_.ProgramOn(cores), cores, 1);
  }
  Route Independent(const CoreRange& cores) const {
    return {0, TilesOf(cores, card_->description().grid)};
  }
  void Submit(const Route& route, const Command& command) {
    ASSERT_TRUE(card_.Submit(route, command).ok());
  }
  Window& DispatchTile() {
    for (const HartReport& hart : card_->probe().Harts()) {
      if (!hart.where.starts_with("dispatch (")) continue;
      tile_ = *card_.device->OpenWindow(UnicastTarget(hart.tile));
      break;
    }
    return *tile_;
  }

  // Runs until nothing moves, and looks.
  void Stop(const std::string& name) {
    const Status stopped = card_.Finish();
    ASSERT_FALSE(stopped.ok()) << "everything has ended";
    const CardStop stop = card_->Halt();
    const StallReport& live = stop.stall;
    const StatusOr<StoppedCard> kept = ParseSnapshot(live.card);
    ASSERT_TRUE(kept.ok()) << kept.status().ToString();
    EXPECT_EQ(SnapshotText(*kept), live.card);
    const StallReport again = DiagnoseCard(kept->card, kept->hosts);
    EXPECT_EQ(again.text, live.text);
    EXPECT_EQ(again.stage, live.stage);
    EXPECT_EQ(again.hardware_queue, live.hardware_queue);
    EXPECT_EQ(again.damage.size(), live.damage.size());
    EXPECT_EQ(again.tiles.size(), kept->card.workers.size());
    size_t commands = 0;
    for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
      for (const CommandState& one : kept->hosts[queue].in_flight) {
        EXPECT_EQ(StateOf(&kept->card.queues[queue], kept->hosts[queue], one),
                  stop.StateOf({queue, one.ticket}));
        ++commands;
      }
    }
    EXPECT_GT(commands, 0u);
    const char* const folder = std::getenv("TTFD_RECORD_SNAPSHOTS");
    if (folder != nullptr) std::ofstream(std::string(folder) + '/' + name + ".json") << live.card;
  }

  BootedCard card_;
  BumpCounters counters_{card_};
  std::unique_ptr<Window> tile_;
};

TEST_F(DispatchSnapshot, AKernelThatNeverEnds_BetweenOthers) {
  const CoreRange all = {0, 0, card_->description().grid.x - 1, 9};
  Submit(Route(), Ending(all));
  Submit(Route(), Endless(3, 2));
  Submit(Route(), Ending(all));
  Submit(Route(), FillCommand{{MemoryKind::kDram, -1, 0x100000, 64, 64}, 0, 64, 0});
  Stop("kernel_never_ends");
}

TEST_F(DispatchSnapshot, WorkersOfTheirOwn_OneOfWhichHangs) {
  Submit(Independent({0, 0, 0, 0}), Endless(0, 0));
  Submit(Independent({1, 1, 2, 2}), Ending({1, 1, 2, 2}));
  Submit(Independent({1, 1, 2, 2}), Endless(1, 1));
  Submit(Independent({0, 0, 0, 0}), Ending({0, 0, 0, 0}));
  Stop("worker_sets");
}

TEST_F(DispatchSnapshot, ATraceStoppedInItsMiddle) {
  const CoreRange area = {0, 0, 4, 9};
  const auto trace = *BuildTrace(card_->geometry(), Independent(area),
                                 {Ending(area), Endless(1, 1), Ending(area)});
  ASSERT_TRUE(card_.Record(Independent(area), trace, 0x200000).ok());
  Submit(Independent(area), Ending(area));
  ASSERT_TRUE(card_.Replay(Independent(area), trace).ok());
  ASSERT_TRUE(card_.Replay(Independent(area), trace).ok());
  Stop("trace");
}

TEST_F(DispatchSnapshot, ANotificationThatWasOverwritten) {
  Submit(Route(), Ending({0, 0, 0, 0}));
  ASSERT_TRUE(card_.Finish().ok());
  constexpr uint32_t kNotified =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, notified[0]);
  ASSERT_TRUE(WriteWord(DispatchTile(), kNotified, 0xC000'0000).ok());
  Submit(Route(), Ending({0, 0, 0, 0}));
  Stop("held_go");
}

TEST_F(DispatchSnapshot, ADispatcherWhoseCodeWasOverwritten) {
  const std::vector<std::byte> zeros(abi::kFirmwareBytes[hw::kBrisc]);
  ASSERT_TRUE(DispatchTile().Write(abi::kFirmwareAddress[hw::kBrisc], zeros).ok());
  Submit(Route(), Ending({0, 0, 0, 0}));
  Stop("overwritten_dispatcher");
}

// Each queue waits for what the other has not come to.
TEST_F(DispatchSnapshot, AQueueThatWaitsForTheOther) {
  Submit(Route(), Endless(0, 0));
  const Ticket hung = card_.Last(0);
  ASSERT_TRUE(card_
                  .Submit({1, {}}, FillCommand{{MemoryKind::kDram, -1, 0x100000, 64, 64}, 0, 64, 0},
                          std::span(&hung, 1))
                  .ok());
  Stop("queue_waits_for_queue");
}

}  // namespace
}  // namespace ttfd
