// Two hardware queues and sub-devices: what overlaps, and what is ordered without the host in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/hart_status.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "tests/support/bump_counters.h"
#include "tests/support/late_device.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint32_t kFlag = abi::kBufferAddress;

TileSet Tiles(const BootedCard& card, const CoreRange& range) {
  return TilesOf(range, card->description().grid);
}

Region FlagOn(const BootedCard& card, uint32_t x, uint32_t y) {
  const uint32_t worker = y * card->description().grid.x + x;
  return {MemoryKind::kL1, static_cast<int32_t>(worker), kFlag, 64, 64};
}

// A kernel on one tile that raises the flag on `other` and waits for its own.
LaunchCommand Meet(const BootedCard& card, uint32_t x, uint32_t y, const uint32_t* other) {
  ProgramSpec spec;
  spec.kernels.push_back({TestKernel("meet_brisc"), hw::kBrisc, {{x, y, x, y}}});
  KernelArguments arguments;
  arguments.common = {kFlag, other ? other[0] : 0, other ? other[1] : 0, other ? 1u : 0u};
  return {TestProgram(spec, card->description().grid), {arguments}};
}

std::vector<std::byte> One() {
  std::vector<std::byte> line(16);
  StoreAt(line.data(), uint32_t{1});
  return line;
}

TEST(DispatchQueues, AnUploadOnOneQueueOverlapsAKernelOfTheOther) {
  BootedCard card;
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 3, 3), 0, 64, 0}).ok());
  ASSERT_TRUE(card.Submit(Meet(card, 3, 3, nullptr)).ok());
  ASSERT_TRUE(card.Event().ok());
  const Route transfer{1, {}};
  const Region buffer{MemoryKind::kDram, -1, 0x100000, 2048, 1 << 20};
  const auto data = Pattern(200'000, 3);
  ASSERT_TRUE(card.Submit(transfer, WriteCommand{buffer, 0, ByteSpan(data).first(199'984)}).ok());
  ASSERT_TRUE(card.Event(1).ok());
  for (int i = 0; i < 100 && card->completed(1) == 0; ++i) {
    ASSERT_TRUE(card->Poll().ok());
  }
  EXPECT_EQ(card->completed(1), 1u) << "done while the kernel runs";
  EXPECT_EQ(card->completed(0), 0u) << "which waits for its flag";
  ASSERT_TRUE(card.Submit(transfer, WriteCommand{FlagOn(card, 3, 3), 0, One()}).ok());
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(card->completed(0), 2u);
}

TEST(DispatchQueues, OneWaitsForTheOtherOnTheCard) {
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange all{0, 0, 10, 9};
  const auto program = counters.ProgramOn(all);
  Random random(4);
  const auto run = [&](uint32_t queue, const Command& command) {
    // In both directions, and never through the host: nothing is polled in between.
    const Ticket after = card.Last(1 - queue);
    ASSERT_TRUE(card.Submit({queue, {}}, command, {&after, 1}).ok());
  };
  int checked = 0, wrong = 0;
  for (int i = 0; i < 300; ++i) {
    const uint32_t value = random();
    counters.Expect(all, value);
    run(random() % 2, counters.Launch(program, all, value, random() % 2000));
    if (i % 3 == 0) {
      const uint32_t page = random() % 110;
      std::vector<std::byte> line(16);
      StoreAt(line.data(), counters.expected[page] = random());
      run(1, WriteCommand{counters.region(), page * BumpCounters::kPage, line});
    }
    if (i % 5 == 0) {
      const uint32_t page = random() % 110;
      const uint32_t expected = counters.expected[page];
      ReadCommand read{counters.region(), page * BumpCounters::kPage, 4, {}};
      read.sink = [&checked, &wrong, expected](uint64_t, ByteSpan data) {
        ++checked;
        if (LoadAt<uint32_t>(data.data()) != expected) ++wrong;
      };
      run(random() % 2, read);
    }
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(checked, 60);
  EXPECT_EQ(wrong, 0);
  counters.ExpectRight();
}

// On one hardware queue and workers of their own: the prefetcher, which runs ahead, waits as well.
TEST(DispatchQueues, AReadWaitsForALaunchOnOtherWorkersOfItsQueue) {
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange tile{1, 1, 1, 1};
  const auto program = counters.ProgramOn(tile);
  const Route left{0, Tiles(card, {0, 0, 4, 9})}, right{0, Tiles(card, {5, 0, 9, 9})};
  ASSERT_TRUE(card.Submit(FillCommand{counters.region(), 0, counters.region().size_bytes, 0}).ok());
  ASSERT_TRUE(
      card.Submit(right, counters.Launch(counters.ProgramOn({6, 6, 6, 6}), {6, 6, 6, 6}, 1)).ok());
  ASSERT_TRUE(card.Finish().ok());
  const uint32_t page = 1 * card->description().grid.x + 1;
  for (uint32_t round = 1; round <= 10; ++round) {
    ASSERT_TRUE(card.Submit(left, counters.Launch(program, tile, 1, 20'000)).ok());
    const Ticket after = card.Last(0);
    uint32_t seen = 0;
    ReadCommand read{counters.region(), page * BumpCounters::kPage, 4, {}};
    read.sink = [&seen](uint64_t, ByteSpan data) { seen = LoadAt<uint32_t>(data.data()); };
    ASSERT_TRUE(card.Submit(right, read, {&after, 1}).ok());
    ASSERT_TRUE(card.Finish().ok());
    ASSERT_EQ(seen, round);
  }
}

TEST(DispatchQueues, AWriteWaitsForAReadOfTheOtherQueue) {
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0x100000, 64 * 1024, 128 * 1024};
  const auto old_data = Pattern(128 * 1024, 1), new_data = Pattern(128 * 1024, 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(card.Submit(WriteCommand{region, 0, old_data}).ok());
    ASSERT_TRUE(card.Finish().ok());
    std::vector<std::byte> read_data(old_data.size());
    ReadCommand read{region, 0, read_data.size(), {}};
    read.sink = [&read_data](uint64_t at, ByteSpan bytes) {
      std::memcpy(read_data.data() + at, bytes.data(), bytes.size());
    };
    ASSERT_TRUE(card.Submit(read).ok());
    const Ticket after = card.Last(0);
    ASSERT_TRUE(card.Submit({1, {}}, WriteCommand{region, 0, new_data}, {&after, 1}).ok());
    ASSERT_TRUE(card.Finish().ok());
    ASSERT_TRUE(read_data == old_data) << "round " << i;
  }
}

TEST(DispatchQueues, WorkersChangeHandsBehindAnEvent) {
  BootedCard card;
  BumpCounters counters(card);
  Random random(9);
  // Without any wait of ours: launches of both queues on the same workers must not meet there.
  const CoreRange areas[] = {{0, 0, 10, 9}, {2, 2, 2, 2}, {0, 0, 5, 9}};
  std::vector<std::shared_ptr<const Program>> programs;
  for (const CoreRange& area : areas) programs.push_back(counters.ProgramOn(area));
  for (int i = 0; i < 300; ++i) {
    const uint32_t which = random() % 3;
    const uint32_t value = random();
    counters.Expect(areas[which], value);
    ASSERT_TRUE(
        card.Submit({random() % 2, {}}, counters.Launch(programs[which], areas[which], value, 1500))
            .ok());
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchQueues, SubDevicesRunDifferentProgramsAtOnce) {
  BootedCard card;
  const CoreRange left{0, 0, 4, 9}, right{5, 0, 10, 9};
  for (const uint32_t queue : {0u, 1u}) {
    ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 2, 2), 0, 64, 0}).ok());
    ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 7, 7), 0, 64, 0}).ok());
    ASSERT_TRUE(card.Finish().ok());
    const uint32_t a[] = {2, 2}, b[] = {7, 7};
    // Each ends only when the other runs.
    ASSERT_TRUE(card.Submit({0, Tiles(card, left)}, Meet(card, 2, 2, b)).ok());
    ASSERT_TRUE(card.Submit({queue, Tiles(card, right)}, Meet(card, 7, 7, a)).ok());
    const Status done = card.Finish();
    ASSERT_TRUE(done.ok()) << done.ToString();
  }
}

TEST(DispatchQueues, AnIndependentLaunchEndsWithoutAnEvent) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 2, 2), 0, 64, 0}).ok());
  ASSERT_TRUE(card.Finish().ok());
  EXPECT_TRUE(card->IsDone(card.Last(0)));
  const Route left{0, Tiles(card, {0, 0, 4, 9})}, right{0, Tiles(card, {5, 0, 10, 9})};
  ASSERT_TRUE(card.Submit(left, Meet(card, 2, 2, nullptr)).ok());
  const Ticket launch = card.Last(0);
  EXPECT_FALSE(card->IsDone(launch));
  const Status hung = [&] {
    for (;;) RETURN_IF_ERROR(card->Poll());
  }();
  EXPECT_EQ(hung.code(), StatusCode::kDeadlineExceeded)
      << "nothing can move: known without an event";
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 2, 2), 0, 64, 0}).ok());
  ASSERT_TRUE(card.Submit(left, Meet(card, 2, 2, nullptr)).ok());
  const Ticket again = card.Last(0);
  ASSERT_TRUE(card.Submit(right, WriteCommand{FlagOn(card, 2, 2), 0, One()}).ok());
  for (int i = 0; i < 100 && !card->IsDone(again); ++i) {
    ASSERT_TRUE(card->Poll().ok());
  }
  EXPECT_TRUE(card->IsDone(again));
  EXPECT_TRUE(card.Finish().ok());
}

// A replay clears the counter of its workers, which shows what ran there before until the dispatcher comes to it.
TEST(DispatchQueues, AnIndependentReplay_IsNotDoneBeforeItBegins) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a library moves only when it is told to");
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange area{0, 0, 4, 9};
  const Route left{0, Tiles(card, area)};
  const auto program = counters.ProgramOn(area);
  const auto trace = *BuildTrace(card->geometry(), left, {counters.Launch(program, area, 1)});
  ASSERT_TRUE(card.Record(left, trace, 0x200000).ok());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      counters.Expect(area, 7);
      ASSERT_TRUE(card.Submit(left, counters.Launch(program, area, 7)).ok());
    }
    ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 2, 2), 0, 64, 0}).ok());
    ASSERT_TRUE(card.Finish().ok());
    ASSERT_TRUE(card.Submit(left, Meet(card, 2, 2, nullptr)).ok());
    const Ticket waits = card.Last(0);
    counters.Expect(area, 1);
    ASSERT_TRUE(card.Replay(left, trace).ok());
    const Ticket replay = card.Last(0);
    ASSERT_TRUE(card.device->Advance(100'000).ok());
    EXPECT_FALSE(card->IsDone(waits));
    EXPECT_FALSE(card->IsDone(replay));
    ASSERT_TRUE(card.Submit({1, {}}, WriteCommand{FlagOn(card, 2, 2), 0, One()}).ok());
    ASSERT_TRUE(card.Event(1).ok());
    // Without an event.
    for (int i = 0; i < 100 && !card->IsDone(replay); ++i) {
      ASSERT_TRUE(card->Poll().ok());
    }
    ASSERT_TRUE(card->IsDone(replay));
    while (!card->idle()) ASSERT_TRUE(card->Poll().ok());
  }
  counters.ExpectRight();
}

TEST(DispatchQueues, TrySubmit_KeepsTheCountersComparable) {
  BootedCard card;
  BumpCounters counters(card);
  const GridSize grid = card->description().grid;
  const CoreRange all{0, 0, grid.x - 1, grid.y - 1};
  const uint64_t workers = counters.expected.size();
  const LaunchCommand launch = counters.Launch(counters.ProgramOn(all), all, 1);
  uint64_t launches = 0;
  while (card->TrySubmit(launch)->has_value()) {
    counters.Expect(all, 1);
    ASSERT_LE(++launches * workers, hw::kStreamCounterReach);
  }
  EXPECT_GT((launches + 2) * workers, hw::kStreamCounterReach) << "the rings hold more";
  ASSERT_TRUE(card.Event().ok());
  while (!card->idle()) ASSERT_TRUE(card->Poll().ok());
  ASSERT_TRUE(card->TrySubmit(launch)->has_value());
  counters.Expect(all, 1);
  ASSERT_TRUE(card.Finish().ok());
  counters.ExpectRight();
}

TEST(DispatchQueues, ALaunchOnOneSubDeviceHoldsNoTransferOfAnother) {
  BootedCard card;
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 2, 2), 0, 64, 0}).ok());
  const Route left{0, Tiles(card, {0, 0, 4, 9})}, right{0, Tiles(card, {5, 0, 10, 9})};
  ASSERT_TRUE(card.Submit(left, Meet(card, 2, 2, nullptr)).ok());
  // On the same hardware queue, behind the launch that waits for it.
  ASSERT_TRUE(card.Submit(right, WriteCommand{FlagOn(card, 2, 2), 0, One()}).ok());
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
}

TEST(DispatchQueues, SubDevicesComeAndGoUnderRandomLaunches) {
  BootedCard card;
  BumpCounters counters(card);
  Random random(12);
  struct Area {
    CoreRange cores;
    CoreRange workers;
  };
  // Overlapping, nested and disjoint sets, some large enough for a multicast go; more than there are
  // numbers.
  std::vector<Area> areas = {{{0, 0, 10, 9}, {0, 0, 10, 9}}, {{0, 0, 4, 9}, {0, 0, 4, 9}},
                             {{1, 1, 2, 2}, {0, 0, 4, 9}},   {{5, 0, 10, 9}, {5, 0, 10, 9}},
                             {{6, 6, 6, 6}, {5, 0, 10, 9}},  {{3, 3, 8, 8}, {3, 3, 8, 8}}};
  for (uint32_t i = 0; i < 10; ++i) areas.push_back({{i, i, i, i}, {i, i, i, i}});
  std::vector<std::shared_ptr<const Program>> programs;
  for (const Area& area : areas) programs.push_back(counters.ProgramOn(area.cores));
  for (int i = 0; i < 800; ++i) {
    const uint32_t which = random() % static_cast<uint32_t>(areas.size());
    const uint32_t value = random();
    counters.Expect(areas[which].cores, value);
    const Route route{random() % 2, Tiles(card, areas[which].workers)};
    ASSERT_TRUE(
        card.Submit(route, counters.Launch(programs[which], areas[which].cores, value, 300)).ok());
    if (i % 50 == 0) {
      const Status done = card.Finish();
      ASSERT_TRUE(done.ok()) << i << ": " << done.ToString();
    }
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchQueues, ProgramNPlusOneIsPlacedWhileNRuns) {
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange all{0, 0, 10, 9};
  const auto program = counters.ProgramOn(all);
  ASSERT_TRUE(counters.Add(program, all, 1).ok());
  ASSERT_TRUE(card.Finish().ok());
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 3, 3), 0, 64, 0}).ok());
  const uint64_t filled = card->submitted(0);
  ASSERT_TRUE(card.Submit(Meet(card, 3, 3, nullptr)).ok());
  for (uint32_t i = 2; i < 6; ++i) ASSERT_TRUE(counters.Add(program, all, i).ok());
  // Announces everything, and asks for nothing that the kernel would have to end for.
  ASSERT_TRUE(*card->RequestEvent({0, filled}));
  // The launches behind it come to be in place on the workers: messages with a kernel enabled in their slots.
  const auto window = *card.device->OpenWindow(UnicastTarget({1, 2}));
  uint32_t placed = 0;
  for (int rounds = 0; placed < 4 && rounds < 50; ++rounds) {
    ASSERT_TRUE(card.device->Advance(20'000).ok());
    placed = 0;
    for (uint32_t slot = 0; slot < abi::kLaunchSlots; ++slot) {
      const auto enables = ReadWord(
          *window, abi::LaunchMessageAddress(slot) + offsetof(abi::LaunchMessage, enables));
      placed += *enables != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(placed, 4u);
  ASSERT_TRUE(card.Submit({1, {}}, WriteCommand{FlagOn(card, 3, 3), 0, One()}).ok());
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

// A host that polls only where there is no space; the rings are small, and every launch asks for an event.
TEST(DispatchQueues, AThousandCommandsWithoutDrainNeitherLockUpNorReadOverPcie) {
  CardOptions options;
  options.issue_ring_bytes = 32 * 1024;
  options.fetch_queue_entries = 16;
  options.completion_ring_pages = 2;
  LateDevice* device = nullptr;
  const auto wrap = [&device](std::unique_ptr<Device> opened) {
    auto late = std::make_unique<LateDevice>(std::move(opened));
    device = late.get();
    return late;
  };
  ManualClock clock;  // halted: no wait is so long that faults are looked for
  BootedCard card("sim:board=p100a", options, wrap, clock);
  BumpCounters counters(card);
  const CoreRange all{0, 0, 10, 9};
  const auto program = counters.ProgramOn(all);
  const Region buffer{MemoryKind::kDram, -1, 0x100000, 2048, 4096};
  const auto data = Pattern(4096, 3);
  const uint64_t reads = device->reads;
  for (uint32_t i = 0; i < 700; ++i) {
    const uint32_t queue = i / 50 % 2;
    counters.Expect(all, i);
    const Status sent = card.Submit({queue, {}}, counters.Launch(program, all, i));
    ASSERT_TRUE(sent.ok()) << i << ": " << sent.ToString();
    ASSERT_TRUE(card.Event(queue).ok());
    if (i >= 300) continue;
    const Route route{i / 20 % 2, {}};
    const auto sink = [&data](uint64_t at, ByteSpan bytes) {
      EXPECT_EQ(std::memcmp(data.data() + at, bytes.data(), bytes.size()), 0);
    };
    ASSERT_TRUE((i % 2 == 0 ? card.Submit(route, WriteCommand{buffer, 0, data})
                            : card.Submit(route, ReadCommand{buffer, 0, data.size(), sink}))
                    .ok());
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(device->reads, reads);
  counters.ExpectRight();
}

// By a worker, as its kernel waits, and by the prefetcher, whose next record is none.
TEST(DispatchQueues, AFaultThatAHartReportsEndsTheWaitForIt) {
  LateDevice* device = nullptr;
  BootedCard card("sim:board=p100a", {}, [&device](std::unique_ptr<Device> opened) {
    auto late = std::make_unique<LateDevice>(std::move(opened));
    device = late.get();
    return late;
  });
  if (device->info().reports_quiescence) GTEST_SKIP() << "its quiescence ends every wait";
  const auto poll = [&card] {
    Status polled = OkStatus();
    const TimePoint late = SteadyClock().Now() + std::chrono::seconds(60);
    while (polled.ok() && SteadyClock().Now() < late) polled = card->Poll();
    return polled;
  };
  ASSERT_TRUE(card.Submit(Meet(card, 3, 3, nullptr)).ok());
  ASSERT_TRUE(card.Event().ok());
  const hw::Coordinate tile = card->geometry().WorkerTile(3 * 11 + 3);
  const auto window = device->OpenWindow(UnicastTarget(tile)).value();
  const uint64_t status = abi::kHartStatusAddress + hw::kNcrisc * abi::kHartStatusBytes;
  ASSERT_TRUE(
      WriteWord(*window, status + offsetof(abi::HartStatus, state), abi::kHartFaulted).ok());
  const Status worker = poll();
  EXPECT_EQ(worker.code(), StatusCode::kFailedPrecondition) << worker.ToString();
  EXPECT_THAT(
      std::string(StatusMessage(worker)),
      HasSubstr(fmt::format("worker at tile ({},{}) NCRISC reports a fault", tile.x, tile.y)));

  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(card.Submit(FillCommand{FlagOn(card, 3, 3), 0, 64, 0}).ok());
  const MutableByteSpan ring = device->host_memory.front().subspan(abi::kIssueRingOffset, 1 << 20);
  std::fill(ring.begin(), ring.end(), std::byte{0xEE});
  const Status prefetcher = poll();
  EXPECT_EQ(prefetcher.code(), StatusCode::kFailedPrecondition) << prefetcher.ToString();
  EXPECT_THAT(std::string(StatusMessage(prefetcher)),
              AllOf(HasSubstr("prefetch at tile"), HasSubstr("unknown command 238")));
}

TEST(DispatchQueues, RefuseWhatNeverWasAndWhatIsElsewhere) {
  BootedCard card;
  const LaunchCommand launch = Meet(card, 1, 1, nullptr);
  const std::array<Ticket, 1> future = {Ticket{1, 1}};
  const Status never = card->TrySubmit(Route(), launch, future).status();
  EXPECT_EQ(never.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(StatusMessage(never)), HasSubstr("command 1 of CQ1, which has 0"));
  for (const Ticket& ticket : {Ticket{0, 1}, Ticket{2, 0}}) {
    const auto [queue, number] = ticket;
    EXPECT_EQ(card->RequestEvent({queue, number}).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(card->probe().LookAt(2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(card->TrySubmit({2, {}}, launch).status().code(), StatusCode::kInvalidArgument);
  const Status wrong =
      card->TrySubmit({0, Tiles(card, {0, 0, 4, 4})}, Meet(card, 5, 1, nullptr)).status();
  EXPECT_EQ(wrong.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(StatusMessage(wrong)),
              HasSubstr("core (5,1), which is not among the 25 workers of its queue"));
  EXPECT_EQ(card->submitted(0), 0u);
  EXPECT_TRUE(card.Finish().ok()) << "and nothing was sent";
}

}  // namespace
}  // namespace ttfd
