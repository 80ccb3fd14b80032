// Flow control and order: waits, stalls, hand-overs, full rings, refusals, the end.
#include "runtime/abi/host_queue.h"
#include "runtime/hw/stream.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_flow_test {
namespace {

using abi::ControlBlock;

constexpr uint32_t kTarget = abi::kBufferAddress;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Flow : public FirmwareVariantTest {
 protected:
  Payload WriteWord(uint32_t worker, uint32_t address, uint32_t value) {
    return WriteLinearCommand(Xy(bench_->WorkerTile(worker)), address, 4).Value(value);
  }
  uint32_t stream(uint32_t number) {
    return bench_->Word(FirmwareBench::kDispatchTile,
                        hw::StreamRegister(number, hw::kStreamSpaceAvailable));
  }
  void AddToStream(uint32_t number, uint32_t count) {
    bench_->SetWord(FirmwareBench::kDispatchTile,
                    hw::StreamRegister(number, hw::kStreamSpaceAvailableUpdate),
                    count << hw::kStreamUpdateShift);
  }
  uint32_t EntriesPublished() {
    return LoadAt<abi::FetchPointer>(bench_->host_memory().data() + abi::kFetchPointerOffset)
        .entries_fetched;
  }
};

TEST_P(Flow, EventsArriveInOrderThroughEveryWrap) {
  constexpr uint32_t kEvents = 200;
  uint32_t taken = 0;
  const auto take = [&] {
    for (;;) {
      auto page = bench_->TakeCompletionPage();
      ASSERT_OK(page.status());
      if (page->empty()) return;
      EXPECT_EQ(LoadAt<abi::EventRecord>(page->data()).event, ++taken);
    }
  };
  for (uint32_t event = 1; event <= kEvents; ++event) {
    EntryBuilder entry;
    entry.Dispatch(EventCommand(event));
    for (uint32_t i = 0; i < event % 5; ++i) entry.Dispatch(WriteWord(0, kTarget + 16 * i, event));
    ASSERT_OK(bench_->Send(entry));
    ASSERT_OK(bench_->Run());
    take();
  }
  EXPECT_EQ(taken, kEvents);
  EXPECT_EQ(DispatchStatus().last_event, kEvents);
}

// Entries of many sizes: their places in the issue ring and the command ring meet every offset.
TEST_P(Flow, EntriesOfEverySizeGoRoundIssueAndCommandRing) {
  const uint32_t largest = bench_->block().command_ring_bytes / 2;
  uint32_t sent = 0;
  for (uint32_t size = 128; size <= largest; size += 64) {
    // A write padded to the size by more writes of one word.
    EntryBuilder entry;
    entry.Dispatch(WriteWord(1, kTarget, ++sent));
    while (entry.bytes().size() + 64 <= size) entry.Dispatch(WriteWord(1, kTarget + 64, sent));
    ASSERT_OK(bench_->Send(entry));
    if (sent % 7 == 0) {
      ASSERT_OK(bench_->Run());
      ASSERT_EQ(bench_->Word(bench_->WorkerTile(1), kTarget), sent);
    }
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(1), kTarget), sent);
  EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, entries_fetched)), sent);
  EXPECT_EQ(EntriesPublished(), sent);
}

// A STALL holds the prefetcher in the last of several entries, between which it never waits for a slot.
TEST_P(Flow, ABusyPrefetcherPublishesEveryEighthEntryAndOneWithTheStallFlag) {
  struct Case {
    uint32_t entries;
    bool stall_flag;  // of the last
  };
  uint32_t stalls = 0;
  uint32_t before = 0;
  for (const Case& each : {Case{8, false}, Case{9, false}, Case{2, true}}) {
    if (each.entries > bench_->block().fetch_queue_entries) continue;
    for (uint32_t i = 1; i < each.entries; ++i) {
      ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WriteWord(0, kTarget, i))));
    }
    ASSERT_OK(bench_->SendAndRun(EntryBuilder().Bare(abi::PrefetchId::kStall), each.stall_flag));
    EXPECT_EQ(PrefetchStatus().waypoint, abi::kWaypointStall);
    const uint32_t fetched = before + each.entries;
    EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, entries_fetched)), fetched);
    EXPECT_GE(EntriesPublished(), each.stall_flag ? fetched : fetched & ~abi::kFetchedUnpublished);
    ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(WaitCommand(abi::kWaitBarrier))));
    bench_->SetWord(FirmwareBench::kPrefetchTile,
                    abi::kControlBlockAddress + offsetof(ControlBlock, sync), ++stalls);
    ASSERT_OK(bench_->Run());
    before = fetched + 1;
    EXPECT_EQ(EntriesPublished(), before) << "it waits for a slot";
  }
}

// The third entry's place in the command ring overlaps the second, which is being executed when the third
// is waiting to be fetched.
TEST_P(Flow, AnEntryIsNotFetchedOverTheOneBeingExecuted) {
  const uint32_t count = bench_->block().command_ring_bytes / 2 / 64;
  const auto writes = [&](uint32_t first) {
    EntryBuilder entry;
    for (uint32_t i = first; i < first + count; ++i) {
      entry.Dispatch(WriteWord(0, kTarget + 16 * i, i + 1));
    }
    return entry;
  };
  // dispatch_ring pages run out in the middle of the second entry, so that the third would be there
  // before its last command is read.
  ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WaitCommand(abi::kWaitStream, 63, 0, 1))));
  ASSERT_OK(bench_->Send(writes(0)));
  ASSERT_OK(bench_->Send(writes(count)));
  ASSERT_OK(bench_->Run());
  AddToStream(63, 1);
  ASSERT_OK(bench_->Run());
  for (uint32_t i = 0; i < 2 * count; ++i) {
    ASSERT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget + 16 * i), i + 1);
  }
}

TEST_P(Flow, AFullCompletionRingHoldsTheDispatcherUntilTheHostReads) {
  const uint32_t pages = bench_->block().completion_ring_pages;
  EntryBuilder entry;
  for (uint32_t event = 1; event <= pages + 1; ++event) entry.Dispatch(EventCommand(event));
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(bench_->completion_pointer().pages_written, pages);
  EXPECT_EQ(DispatchStatus().waypoint, abi::kWaypointCompletion);
  ASSERT_OK(bench_->TakeCompletionPage().status());
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->completion_pointer().pages_written, pages + 1);
  while (!bench_->TakeCompletionPage()->empty()) {
  }
}

TEST_P(Flow, AFullDispatchRingHoldsThePrefetcher) {
  ASSERT_OK(bench_->Send(
      EntryBuilder().Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 1))));
  const uint32_t pages = bench_->block().dispatch_ring_pages;
  for (uint32_t i = 0; i < pages; ++i) {
    ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WriteWord(0, kTarget, i + 1))));
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(PrefetchStatus().waypoint, abi::kWaypointCredit);
  EXPECT_EQ(DispatchStatus().waypoint, abi::kWaypointWait);
  EXPECT_EQ(DispatchStatus().wait_stream, abi::kFirstWorkerStream);
  EXPECT_EQ(DispatchStatus().wait_count, 1u);
  AddToStream(abi::kFirstWorkerStream, 1);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), pages);
}

TEST_P(Flow, AFullDispatchSRingHoldsThePrefetcher) {
  const uint32_t pages = bench_->block().dispatch_s_ring_pages;
  // No NOTIFY: dispatch_s waits in the first.
  for (uint32_t i = 0; i <= pages; ++i) {
    ASSERT_OK(bench_->Send(EntryBuilder().DispatchS(
        SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream, 0))));
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(PrefetchStatus().waypoint, abi::kWaypointCreditS);
  EXPECT_EQ(DispatchSStatus().waypoint, abi::kWaypointNotify);
  bench_->SetWord(FirmwareBench::kDispatchTile,
                  abi::kControlBlockAddress + offsetof(ControlBlock, notified), pages + 1);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(DispatchSStatus().progress, pages + 1);
}

TEST_P(Flow, StallWaitsForTheNotifyOfAWait) {
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitStream | abi::kWaitNotifyPrefetch,
                             abi::kFirstWorkerStream, 0, 3));
  entry.Bare(abi::PrefetchId::kStall);
  entry.Dispatch(WriteWord(0, kTarget, 9));
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(PrefetchStatus().waypoint, abi::kWaypointStall);
  EXPECT_EQ(PrefetchStatus().wait_count, 1u);
  AddToStream(abi::kFirstWorkerStream, 3);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), 9u);
  EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, sync)), 1u);
}

TEST_P(Flow, WaitClearsTheStreamModulo17Bits) {
  AddToStream(50, 0x1FFF0);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(
      WaitCommand(abi::kWaitStream | abi::kWaitClearStream, 50, 0, 0x20005 & 0x1FFFF))));
  EXPECT_EQ(DispatchStatus().waypoint, abi::kWaypointWait);
  AddToStream(50, 0x15);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(stream(50), 0u);
}

TEST_P(Flow, WaitMemoryComparesAFreeRunningCounter) {
  const uint32_t word = abi::kControlBlockAddress + offsetof(ControlBlock, last_event);
  bench_->SetWord(FirmwareBench::kDispatchTile, word, 0xFFFFFFF0);
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitMemory, 0, word, 4));
  entry.Dispatch(WriteWord(0, kTarget, 5));
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), 0u);
  bench_->SetWord(FirmwareBench::kDispatchTile, word, 4);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), 5u);
}

// What one queue waits for on the other's dispatch tile: a packed write of an event id into it.
TEST_P(Flow, AnEventWrittenToTheDispatchTileItselfSatisfiesAWait) {
  const uint32_t word = abi::kControlBlockAddress + offsetof(ControlBlock, last_event) + 16;
  EntryBuilder entry;
  entry.Dispatch(WritePackedCommand(0, 1, 16, word)
                     .Value(Xy(FirmwareBench::kDispatchTile))
                     .Pad(16)
                     .Value(12u)
                     .Pad(16));
  entry.Dispatch(WaitCommand(abi::kWaitMemory, 0, word, 12));
  entry.Dispatch(WriteWord(2, kTarget, 1));
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(2), kTarget), 1u);
}

TEST_P(Flow, NotifyCountsForEachNamedSubDevice) {
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder().Dispatch(NotifyCommand(0b101, false)).Dispatch(NotifyCommand(0b100))));
  const auto notified = [&](uint32_t sub_device) {
    return DispatchCounter(offsetof(ControlBlock, notified) + sub_device * sizeof(abi::Counter));
  };
  EXPECT_EQ(notified(0), 1u);
  EXPECT_EQ(notified(1), 0u);
  EXPECT_EQ(notified(2), 2u);
}

TEST_P(Flow, AnEntryWithTheStallFlagIsFollowedByTheNextOne) {
  ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WriteWord(0, kTarget, 1)), true));
  ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WriteWord(0, kTarget + 16, 2)), true));
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(WriteWord(0, kTarget + 32, 3))));
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget + 32), 3u);
  EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, entries_fetched)), 3u);
}

TEST_P(Flow, TerminateStopsEachDispatchHart) {
  ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WaitCommand(abi::kWaitBarrier))));
  ASSERT_OK(
      bench_->Send(EntryBuilder().DispatchS(BareDispatchCommand(abi::DispatchId::kTerminate))));
  ASSERT_OK(
      bench_->Send(EntryBuilder().Dispatch(BareDispatchCommand(abi::DispatchId::kTerminate))));
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Bare(abi::PrefetchId::kTerminate)));
  for (const abi::HartStatus& status : {PrefetchStatus(), DispatchStatus(), DispatchSStatus()}) {
    EXPECT_EQ(status.state, abi::kHartStopped);
    EXPECT_EQ(status.waypoint, abi::kWaypointDone);
  }
}

TTFD_INSTANTIATE_VARIANTS(Flow);

}  // namespace
}  // namespace ttfd::testing::firmware_flow_test
