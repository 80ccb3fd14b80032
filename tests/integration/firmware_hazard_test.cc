// What went wrong in other fast-dispatch systems, one test each: wraps, stalls, lost credits, traces among
// ordinary entries, two queues on one card.
#include <algorithm>

#include "runtime/abi/rings.h"
#include "runtime/hw/stream.h"
#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing {
namespace {

using abi::ControlBlock;

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kTrace = 0x40000;
constexpr uint32_t kPageShift = 10;
constexpr uint32_t kQueues = abi::kMaxHardwareQueues;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Hazard : public FirmwareTest, public ::testing::WithParamInterface<Variant> {
 protected:
  void SetUp() override {
    BenchOptions options = GetParam().options();
    options.queues = kQueues;
    Start(options);
  }
  void TearDown() override {
    if (HasFatalFailure()) return;
    for (uint32_t queue = 0; queue < kQueues; ++queue) ExpectCreditsAreBack(queue);
  }

  void ExpectCreditsAreBack(uint32_t queue) {
    const auto at = [&](hw::Coordinate tile, size_t offset) {
      return bench_->counter(tile, offset);
    };
    const auto prefetch = BenchQueue::PrefetchTile(queue);
    const auto dispatch = BenchQueue::DispatchTile(queue);
    EXPECT_EQ(at(prefetch, offsetof(ControlBlock, dispatch_pages_returned)),
              at(dispatch, offsetof(ControlBlock, dispatch_pages_arrived)));
    EXPECT_EQ(at(prefetch, offsetof(ControlBlock, dispatch_s_pages_returned)),
              at(dispatch, offsetof(ControlBlock, dispatch_s_pages_arrived)));
    EXPECT_EQ(at(prefetch, offsetof(ControlBlock, entries_fetched)),
              bench_->queue(queue).entries_sent());
    EXPECT_EQ(bench_->completion_pointer(queue).pages_written,
              bench_->completion_pages_taken(queue));
    for (const uint32_t hart : {hw::kBrisc, hw::kNcrisc}) {
      EXPECT_EQ(bench_->status(dispatch, hart).state, abi::kHartReady);
    }
    EXPECT_EQ(bench_->status(prefetch, hw::kBrisc).state, abi::kHartReady);
  }

  Payload WriteWord(uint32_t worker, uint32_t address, uint32_t value) {
    return WriteLinearCommand(Xy(bench_->WorkerTile(worker)), address, 4).Value(value);
  }
  uint32_t WordAt(uint32_t worker, uint32_t address) {
    return bench_->Word(bench_->WorkerTile(worker), address);
  }
  uint32_t stream(uint32_t queue, uint32_t number) {
    return bench_->Word(BenchQueue::DispatchTile(queue),
                        hw::StreamRegister(number, hw::kStreamSpaceAvailable));
  }
  // An entry of exactly `bytes` that leaves `value` at kTarget of worker 0.
  EntryBuilder EntryOf(uint32_t bytes, uint32_t value) {
    EntryBuilder entry;
    entry.Dispatch(WriteWord(0, kTarget, value));
    if (entry.bytes().size() < bytes) {
      entry.Debug(std::vector<std::byte>(bytes - entry.bytes().size() - abi::kCommandBytes));
    }
    return entry;
  }
  // A trace of a queue that writes `value` + i to word i of a place of worker `queue`, longer than any
  // command ring; returns its pages.
  uint32_t StoreTrace(uint32_t queue, uint32_t value, uint32_t words) {
    EntryBuilder buffer;
    for (uint32_t i = 0; i < words; ++i) {
      buffer.Dispatch(WriteWord(queue, kTarget + 16 * i, value + i));
    }
    buffer.ExecBufEnd();
    std::vector<std::byte> bytes(buffer.bytes().begin(), buffer.bytes().end());
    bytes.resize(AlignUp(bytes.size(), size_t{1} << kPageShift));
    bench_->SetDramPages(TraceOf(queue), 1u << kPageShift, 0, bytes);
    return static_cast<uint32_t>(bytes.size() >> kPageShift);
  }
  static uint32_t TraceOf(uint32_t queue) { return kTrace + queue * 0x40000; }
  Status Replay(uint32_t queue, uint32_t pages) {
    return bench_->Send(EntryBuilder().ExecBuf(TraceOf(queue), kPageShift, pages), true, queue);
  }
  // Event ids of the completion pages that have come.
  std::vector<uint32_t> TakeEvents(uint32_t queue) {
    std::vector<uint32_t> events;
    for (;;) {
      const auto page = bench_->TakeCompletionPage(queue);
      if (!page.ok() || page->empty()) return events;
      events.push_back(LoadAt<abi::EventRecord>(page->data()).event);
    }
  }
};

// Every entry size at every place before the end of the issue ring (of a large ring, some): host and
// prefetcher place it alike.
TEST_P(Hazard, IssueWrapBoundary) {
  const uint32_t ring = bench_->block().issue_ring_bytes;
  const uint32_t largest = bench_->block().command_ring_bytes / 2;
  const uint32_t step = GetParam().tiny_rings ? 64 : 320;
  uint32_t value = 0;
  uint32_t position = 0;
  const auto send = [&](uint32_t bytes) {
    position = abi::PlaceEntry(position, bytes, ring) + bytes;
    return bench_->Send(EntryOf(bytes, ++value));
  };
  for (uint32_t gap = 64; gap <= largest && gap < ring; gap += step) {
    for (uint32_t size = 64; size <= largest; size += step) {
      while (position != ring - gap) {
        const uint32_t from = position == ring ? 0 : position;
        const uint32_t ahead = (from < ring - gap ? ring - gap : ring) - from;
        ASSERT_OK(send(std::min(ahead, largest)));
      }
      ASSERT_OK(send(size));
      ASSERT_OK(send(64));
      ASSERT_OK(bench_->Run());
      ASSERT_EQ(WordAt(0, kTarget), value) << size << " bytes, " << gap << " before the end";
    }
  }
}

// Any of eight entries may ask that nothing be fetched before it is executed.
TEST_P(Hazard, StallAfterEntries) {
  for (uint32_t pattern = 0; pattern < 256; ++pattern) {
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_OK(bench_->Send(EntryOf(64 + 64 * (i * pattern % 7), pattern * 8 + i),
                             (pattern >> i & 1) != 0));
    }
    ASSERT_OK(bench_->Run());
    ASSERT_EQ(WordAt(0, kTarget), pattern * 8 + 7) << "pattern " << pattern;
  }
}

// Commands of every number of pages, through every place of the ring: what a dispatcher holds back it
// returns when it runs dry.
TEST_P(Hazard, CreditLeaksOverWraps) {
  const uint32_t ring_pages = bench_->block().dispatch_ring_pages;
  for (uint32_t pages = 1; pages <= 2 * ring_pages + 1; ++pages) {
    const uint32_t bytes = pages * abi::kDispatchPageBytes - uint32_t{sizeof(abi::WriteLinear)};
    for (const uint32_t length : {bytes - 16, bytes, bytes + 16}) {
      ASSERT_OK(bench_->SendAndRun(
          EntryBuilder()
              .Noflush(WriteLinearCommand(Xy(bench_->WorkerTile(0)), kTarget, length))
              .RelayLinear(Xy(hw::kPcieTranslated), bench_->host_data_address(0), length)
              .DispatchS(SetGoTargetsCommand({}))));
      ASSERT_NO_FATAL_FAILURE(ExpectCreditsAreBack(0));
      ASSERT_FALSE(HasFailure()) << length << " bytes";
    }
  }
}

// Entries are waiting in every slot behind a trace that uses the whole command ring.
TEST_P(Hazard, ExecBufWithPrefetchAhead) {
  const uint32_t words = bench_->block().command_ring_bytes / 64 + 9;
  for (uint32_t round = 0; round < 6; ++round) {
    const uint32_t pages = StoreTrace(0, round * 1000, words);
    const uint32_t before = WordAt(1, kTarget);
    // Behind a WAIT, so that all are sent before the first is over.
    const uint32_t slots = bench_->block().fetch_queue_entries;
    ASSERT_OK(
        bench_->Send(EntryBuilder().Dispatch(WaitCommand(abi::kWaitStream, 60, 0, round + 1))));
    ASSERT_OK(Replay(0, pages));
    for (uint32_t i = 0; i + 2 < slots; ++i) {
      ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(WriteWord(1, kTarget, before + i + 1))));
      ASSERT_OK(bench_->Run());
    }
    bench_->SetWord(BenchQueue::DispatchTile(0),
                    hw::StreamRegister(60, hw::kStreamSpaceAvailableUpdate),
                    1u << hw::kStreamUpdateShift);
    ASSERT_OK(bench_->Run());
    for (uint32_t i = 0; i < words; ++i) {
      ASSERT_EQ(WordAt(0, kTarget + 16 * i), round * 1000 + i) << "round " << round;
    }
    ASSERT_EQ(WordAt(1, kTarget), before + slots - 2) << "round " << round;
  }
}

// A trace on each queue, replayed at the same time among ordinary entries.
TEST_P(Hazard, TraceCreditsWithTwoQueues) {
  constexpr uint32_t kWords = 120;
  const uint32_t pages[kQueues] = {StoreTrace(0, 0, kWords), StoreTrace(1, 5000, kWords)};
  for (uint32_t round = 0; round < 20; ++round) {
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      ASSERT_OK(Replay(queue, pages[queue]));
      ASSERT_OK(bench_->Send(EntryBuilder()
                                 .Dispatch(WriteWord(2, kTarget + 16 * queue, round))
                                 .Dispatch(EventCommand(round)),
                             false, queue));
    }
    if (round % 4 != 3) continue;
    for (uint32_t tries = 0; tries < 8; ++tries) {
      ASSERT_OK(bench_->Run());
      for (uint32_t queue = 0; queue < kQueues; ++queue) TakeEvents(queue);
    }
    for (uint32_t queue = 0; queue < kQueues; ++queue) ExpectCreditsAreBack(queue);
  }
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EXPECT_EQ(WordAt(2, kTarget + 16 * queue), 19u);
    for (uint32_t i = 0; i < kWords; ++i) {
      ASSERT_EQ(WordAt(queue, kTarget + 16 * i), 5000 * queue + i);
    }
  }
}

// The workers' launch ring is one, whichever queue starts them: slots go on where the other queue left.
TEST_P(Hazard, LaunchRingSharedBetweenQueues) {
  BenchLauncher launcher(*bench_);
  launcher.Load({.kernels = {{.name = "empty"}}});
  const auto last_event = [](uint32_t queue) {
    return static_cast<uint32_t>(abi::kControlBlockAddress + offsetof(ControlBlock, last_event) +
                                 queue * sizeof(abi::Counter));
  };
  uint32_t answers[kQueues] = {};
  for (uint32_t launch = 0; launch < 3 * abi::kLaunchSlots; ++launch) {
    const uint32_t queue = launch / 3 % kQueues;
    const uint32_t slot = launch % abi::kLaunchSlots;
    const hw::Coordinate tile = BenchQueue::DispatchTile(queue);
    EntryBuilder entry;
    if (launch % 3 == 0 && launch != 0) {  // the other queue's workers are done: it says so
      entry.Dispatch(WaitCommand(abi::kWaitMemory, 0, last_event(1 - queue), launch));
    }
    Payload message = WritePackedCommand(abi::kPackedMulticast, 1, sizeof(abi::LaunchMessage),
                                         abi::LaunchMessageAddress(slot));
    message.Value(bench_->worker_rectangle()).Value(bench_->worker_count()).Pad(16);
    message.Value(launcher.message());
    entry.Dispatch(message)
        .Dispatch(NotifyCommand(1))
        .DispatchS(SendGoCommand(abi::GoWord(0, tile.x, tile.y, slot), 0, abi::kFirstWorkerStream,
                                 answers[queue]));
    answers[queue] += bench_->worker_count();
    if (launch % 3 == 2) {
      entry.Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitStream, abi::kFirstWorkerStream, 0,
                                 answers[queue]));
      Payload event = WritePackedCommand(abi::kPackedNoStride, kQueues, 4, last_event(queue));
      for (uint32_t i = 0; i < kQueues; ++i) event.Value(Xy(BenchQueue::DispatchTile(i)));
      entry.Dispatch(event.Pad(16).Value(launch + 1));
    }
    ASSERT_OK(bench_->Send(entry, false, queue));
  }
  ASSERT_OK(bench_->Run());
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    EXPECT_EQ(bench_->status(bench_->WorkerTile(worker), hw::kBrisc).progress,
              3 * abi::kLaunchSlots);
  }
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EXPECT_EQ(stream(queue, abi::kFirstWorkerStream), answers[queue]);
  }
}

// Worker counts go over 17 bits with goes under way; the host counts on.
TEST_P(Hazard, SeventeenBitCounter) {
  constexpr uint32_t kWrap = 1u << hw::kStreamCounterBits;
  uint32_t expected = kWrap - 10;
  for (const uint32_t half : {expected / 2, expected - expected / 2}) {
    bench_->SetWord(BenchQueue::DispatchTile(0),
                    hw::StreamRegister(abi::kFirstWorkerStream, hw::kStreamSpaceAvailableUpdate),
                    half << hw::kStreamUpdateShift);
  }
  ASSERT_OK(bench_->Run());  // updates show when they like
  ASSERT_EQ(stream(0, abi::kFirstWorkerStream), expected);
  const hw::Coordinate tile = BenchQueue::DispatchTile(0);
  for (uint32_t go = 0; go < 12; ++go) {
    ASSERT_OK(bench_->Send(EntryBuilder()
                               .Dispatch(NotifyCommand(1))
                               .DispatchS(SendGoCommand(abi::GoWord(0, tile.x, tile.y, go % 8), 0,
                                                        abi::kFirstWorkerStream, expected))
                               .Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0,
                                                     expected + bench_->worker_count()))
                               .Dispatch(WriteWord(0, kTarget, go))));
    expected += bench_->worker_count();
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(WordAt(0, kTarget), 11u);
  EXPECT_EQ(stream(0, abi::kFirstWorkerStream), expected % kWrap);
  EXPECT_LT(expected % kWrap, 100u) << "the count has come round";
}

// The host sleeps until nothing goes any further, then wakes up: nothing is lost, and the other queue was
// not held up.
TEST_P(Hazard, CompletionRingFullWhileTheHostSleeps) {
  uint32_t sent = 0;
  for (uint32_t idle = 0; idle < 3;) {
    const EntryBuilder entry = EntryBuilder().Dispatch(EventCommand(sent + 1));
    const auto room = bench_->queue(0).HasRoom(static_cast<uint32_t>(entry.bytes().size()));
    ASSERT_OK(room.status());
    if (!*room) {
      ASSERT_OK(bench_->Run());
      ++idle;
      continue;
    }
    ASSERT_OK(bench_->Send(entry));
    ++sent;
  }
  EXPECT_EQ(bench_->status(BenchQueue::DispatchTile(0), hw::kBrisc).waypoint,
            abi::kWaypointCompletion);
  EXPECT_EQ(bench_->completion_pointer(0).pages_written, bench_->block().completion_ring_pages);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(EventCommand(77)), false, 1));
  EXPECT_EQ(TakeEvents(1), std::vector<uint32_t>{77});
  uint32_t seen = 0;
  while (seen < sent) {
    const auto events = TakeEvents(0);
    ASSERT_FALSE(events.empty()) << seen << " of " << sent;
    for (const uint32_t event : events) ASSERT_EQ(event, ++seen);
    ASSERT_OK(bench_->Run());
  }
}

// A page given back on one queue is that queue's: the other one stays where it is.
TEST_P(Hazard, CompletionPagesGoBackToTheirOwnQueue) {
  const uint32_t pages = bench_->block().completion_ring_pages;
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EntryBuilder entry;
    for (uint32_t event = 1; event <= pages + 2; ++event) entry.Dispatch(EventCommand(event));
    ASSERT_OK(bench_->Send(entry, false, queue));
  }
  ASSERT_OK(bench_->Run());
  ASSERT_OK(bench_->TakeCompletionPage(1).status());
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->completion_pointer(0).pages_written, pages);
  EXPECT_EQ(bench_->completion_pointer(1).pages_written, pages + 1);
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    while (bench_->completion_pages_taken(queue) < pages + 2) {
      TakeEvents(queue);
      ASSERT_OK(bench_->Run());
    }
  }
}

// However little the card runs between two looks of the host: the pointer never says more than is there,
// and events come in their order.
TEST_P(Hazard, EventOrder) {
  constexpr uint32_t kEvents = 60;
  uint32_t sent = 0, seen = 0;
  for (uint32_t looks = 0; seen < kEvents; ++looks) {
    ASSERT_LT(looks, 200'000u);
    const EntryBuilder entry =
        EntryBuilder().Dispatch(WriteWord(0, kTarget, sent + 1)).Dispatch(EventCommand(sent + 1));
    const auto room = bench_->queue(0).HasRoom(static_cast<uint32_t>(entry.bytes().size()));
    ASSERT_OK(room.status());
    if (*room && sent < kEvents) {
      ASSERT_OK(bench_->Send(entry));
      ++sent;
    }
    ASSERT_OK(bench_->device().Advance(1 + looks % 97).status());
    const abi::CompletionPointer pointer = bench_->completion_pointer(0);
    ASSERT_EQ(pointer.last_event, pointer.pages_written);
    for (const uint32_t event : TakeEvents(0)) ASSERT_EQ(event, ++seen);
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->status(BenchQueue::DispatchTile(0), hw::kBrisc).last_event, kEvents);
}

// What is relayed was written by the same queue just before: WAIT and STALL stand between.
TEST_P(Hazard, RelayReadsWhatTheDispatcherWrote) {
  const uint32_t xy = bench_->banks().dram_xy[0][0];
  for (uint32_t round = 1; round <= 40; ++round) {
    const auto data = Pattern(16 + 16 * round, round);
    ASSERT_OK(
        bench_->Send(EntryBuilder()
                         .Dispatch(WriteLinearCommand(xy, kTrace, data.size()).Append(data))
                         .Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitNotifyPrefetch))
                         .Bare(abi::PrefetchId::kStall)
                         .Noflush(WriteLinearCommand(Xy(bench_->WorkerTile(0)),
                                                     kTarget + 0x1000 * (round % 8), data.size()))
                         .RelayLinear(xy, kTrace, data.size())));
    if (round % 8 != 0) continue;
    ASSERT_OK(bench_->Run());
    for (uint32_t i = round - 7; i <= round; ++i) {
      const auto wanted = Pattern(16 + 16 * i, i);
      ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget + 0x1000 * (i % 8), wanted.size()),
                wanted);
    }
  }
}

TTFD_INSTANTIATE_VARIANTS(Hazard);

}  // namespace
}  // namespace ttfd::testing
