// How far each launch was when the card stopped: what the dispatch tiles show decides whether it may run again.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/abi/control_block.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/stream.h"
#include "tests/support/booted_card.h"
#include "tests/support/bump_counters.h"

namespace ttfd {
namespace {

class DispatchEvidence : public ::testing::Test {
 protected:
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a library moves only when it is told to");
    for (const HartReport& hart : card_->probe().Harts()) {
      if (hart.where.starts_with("dispatch (")) {
        auto window = card_.device->OpenWindow(UnicastTarget(hart.tile));
        ASSERT_TRUE(window.ok()) << window.status().ToString();
        dispatch_tile_ = *std::move(window);
        break;
      }
    }
    ASSERT_NE(dispatch_tile_, nullptr);
  }

  // In the dispatch tile's L1; the bytes have arrived when it returns.
  void Overwrite(uint64_t address, ByteSpan bytes) {
    ASSERT_TRUE(dispatch_tile_->Write(address, bytes).ok());
    ASSERT_TRUE(ReadWord(*dispatch_tile_, address).ok());
  }

  // A launch on the tiles, by workers of their own unless these are all; it ends after about `clocks`.
  Ticket Launch(const CoreRange& cores, uint32_t clocks = 0) {
    Route route;
    const GridSize grid = card_->description().grid;
    const bool all = cores.x1 - cores.x0 + 1 == grid.x;
    for (uint32_t y = cores.y0; !all && y <= cores.y1; ++y) {
      for (uint32_t x = cores.x0; x <= cores.x1; ++x) route.workers.set(y * grid.x + x);
    }
    const Status submitted =
        card_.Submit(route, counters_.Launch(counters_.ProgramOn(cores), cores, 1, clocks));
    EXPECT_TRUE(submitted.ok()) << submitted.ToString();
    return card_.Last(0);
  }
  CoreRange AllCores() const {
    const GridSize grid = card_->description().grid;
    return {0, 0, grid.x - 1, grid.y - 1};
  }
  // Counted by the stream of all workers.
  uint32_t WorkerAnswers() {
    const auto shows = ReadWord(
        *dispatch_tile_, hw::StreamRegister(abi::kFirstWorkerStream, hw::kStreamSpaceAvailable));
    EXPECT_TRUE(shows.ok()) << shows.status().ToString();
    return shows.value_or(0);
  }
  // Until the card faults or nothing can move.
  void RunUntilStopped() {
    Status status;
    while (status.ok()) status = card_->Poll();
  }

  // As a kernel does that makes the completion ring appear full.
  void TakeCompletionPages() {
    constexpr uint64_t kPagesRead =
        abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);
    const StatusOr<uint32_t> read = ReadWord(*dispatch_tile_, kPagesRead);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    const uint32_t fewer = *read - CardOptions().completion_ring_pages;
    Overwrite(kPagesRead, BytesOf(fewer));
  }
  // Of the count that TakeCompletionPages changes.
  static bool IsNamed(const StallReport& report) {
    return std::ranges::any_of(report.damage, [](const FirmwareDamage& damage) {
      return damage.hardware_queue == 0 &&
             damage.address ==
                 abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);
    });
  }

  BootedCard card_;
  BumpCounters counters_{card_};
  std::unique_ptr<Window> dispatch_tile_;  // of hardware queue 0
};

// The stream of the last launch shows that its workers are free, and dispatch_s holds the go signal of another.
TEST_F(DispatchEvidence, UnpublishedEvent_LaterLaunchesNotStarted) {
  const Ticket running = Launch(AllCores(), /*clocks=*/300'000);
  ASSERT_TRUE(card_.Event().ok());
  const Ticket second = Launch({1, 1, 1, 1});
  const Ticket third = Launch({2, 2, 2, 2});
  ASSERT_TRUE(card_.Event().ok());
  ASSERT_TRUE(card_.device->Advance(50'000).ok());
  const CardStop stop = card_->Halt();
  EXPECT_EQ(stop.StateOf(running), ExecutionState::kRunning);
  EXPECT_EQ(stop.StateOf(second), ExecutionState::kNotStarted);
  EXPECT_EQ(stop.StateOf(third), ExecutionState::kNotStarted);
}

TEST_F(DispatchEvidence, PublishedEvent_LaterLaunchMayHaveStarted) {
  Launch(AllCores());
  ASSERT_TRUE(card_.Event().ok());
  const Ticket later = Launch({1, 1, 1, 1}, /*clocks=*/300'000);
  ASSERT_TRUE(card_->Poll().ok());
  ASSERT_TRUE(card_.device->Advance(50'000).ok());
  const CardStop stop = card_->Halt();
  EXPECT_EQ(stop.StateOf(later), ExecutionState::kRunning);
}

// All workers have answered; a dispatcher whose code was overwritten publishes no event of it.
TEST_F(DispatchEvidence, OverwrittenDispatcher_EndedLaunchKeepsLaterUnstarted) {
  const Ticket ended = Launch(AllCores(), /*clocks=*/300'000);
  ASSERT_TRUE(card_.Event().ok());
  const Ticket later = Launch(AllCores());
  ASSERT_TRUE(card_.Event().ok());
  ASSERT_TRUE(card_.device->Advance(50'000).ok());
  const uint32_t answers = WorkerAnswers();
  while (WorkerAnswers() != answers + counters_.expected.size()) {
    ASSERT_TRUE(card_.device->Advance(1).ok());
  }
  const std::vector<std::byte> zeros(abi::kFirmwareBytes[hw::kBrisc]);
  ASSERT_TRUE(dispatch_tile_->Write(abi::kFirmwareAddress[hw::kBrisc], zeros).ok());
  RunUntilStopped();
  ASSERT_TRUE(card_.device->fault().has_value());
  const CardStop stop = card_->Halt();
  const StallReport& report = stop.stall;
  ASSERT_FALSE(report.damage.empty());
  EXPECT_EQ(report.damage[0].hardware_queue, 0);
  EXPECT_EQ(stop.StateOf(ended), ExecutionState::kCompleted);
  EXPECT_EQ(stop.StateOf(later), ExecutionState::kNotStarted);
}

// The dispatcher has passed every event, and dispatch_s waits for a notification that was overwritten.
TEST_F(DispatchEvidence, HeldGoSignal_LaunchNotStarted) {
  Launch(AllCores());
  ASSERT_TRUE(card_.Finish().ok());
  constexpr uint32_t kNotified =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, notified[0]);
  Overwrite(kNotified, BytesOf(0xC000'0000));
  const Ticket held = Launch(AllCores());
  ASSERT_TRUE(card_.Event().ok());
  RunUntilStopped();
  const CardStop stop = card_->Halt();
  EXPECT_EQ(stop.StateOf(held), ExecutionState::kNotStarted);
}

// No event has this number, and so many go signals were not sent.
TEST_F(DispatchEvidence, ImplausibleWords_ProveNothing) {
  const Ticket running = Launch(AllCores(), /*clocks=*/300'000);
  ASSERT_TRUE(card_.Event().ok());
  Launch({1, 1, 1, 1});
  const Ticket later = Launch({2, 2, 2, 2});
  ASSERT_TRUE(card_.Event().ok());
  ASSERT_TRUE(card_.device->Advance(50'000).ok());
  constexpr uint32_t kPublished = abi::kControlBlockAddress +
                                  offsetof(abi::ControlBlock, completion_staging) +
                                  offsetof(abi::CompletionPointer, last_event);
  Overwrite(kPublished, BytesOf(0xDEAD'BEEF));
  CardStop stop = card_->Halt();
  EXPECT_EQ(stop.StateOf(running), ExecutionState::kRunning);
  EXPECT_EQ(stop.StateOf(later), ExecutionState::kNotStarted) << "its go was not sent";
  constexpr uint32_t kSent = abi::kControlBlockAddress + offsetof(abi::ControlBlock, gos_sent);
  const std::array<uint32_t, abi::kMaxSubDevices> overwritten = {1000, 1000, 1000, 1000,
                                                                 1000, 1000, 1000, 1000};
  Overwrite(kSent, BytesOf(overwritten));
  stop = card_->Halt();
  EXPECT_EQ(stop.StateOf(running), ExecutionState::kUnknown);
  EXPECT_EQ(stop.StateOf(later), ExecutionState::kUnknown);
}

// The host has a page to acknowledge when nothing can move: the write of that would repair the word.
TEST_F(DispatchEvidence, OverwrittenPageCount_IsFoundBeforeItIsRepaired) {
  const Ticket ended = Launch(AllCores());
  ASSERT_TRUE(card_.Event().ok());
  const Ticket later = Launch(AllCores(), /*clocks=*/300'000);
  ASSERT_TRUE(card_.Event().ok());
  while (!card_->IsDone(ended)) ASSERT_TRUE(card_->Poll().ok());
  ASSERT_FALSE(card_->IsDone(later));
  TakeCompletionPages();
  Status status;
  while (status.ok() && !card_->idle()) status = card_->Poll();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.ToString();
  EXPECT_TRUE(IsNamed(card_->Halt().stall));
}

// To collect it leaves the queue idle, and an idle queue acknowledges all pages.
TEST_F(DispatchEvidence, OverwrittenPageCount_IsNamedAfterTheLastCompletion) {
  const Ticket ended = Launch(AllCores());
  ASSERT_TRUE(card_.Event().ok());
  ASSERT_TRUE(card_.device->Advance(100'000).ok());
  TakeCompletionPages();
  EXPECT_TRUE(IsNamed(card_->Halt().stall));
  EXPECT_TRUE(card_->IsDone(ended));
}

}  // namespace
}  // namespace ttfd
