// Traces: recorded once, replayed any number of times, patched in between, beside ordinary work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/abi/l1_map.h"
#include "tests/support/bump_counters.h"
#include "tests/support/late_device.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using testing::HasSubstr;

// A trace of "bump" launches, at most so many a segment, and what one replay adds.
class BumpTrace {
 public:
  BumpTrace(BootedCard& card, BumpCounters& counters, const Route& route, uint32_t base,
            uint32_t segment_launches = ~0u)
      : card_(card),
        counters_(counters),
        route_(route),
        base_(base),
        segment_launches_(segment_launches) {}

  void Add(const std::shared_ptr<const Program>& program, const CoreRange& cores, uint32_t value,
           uint32_t clocks = 0, uint32_t padding = 0) {
    launches_.push_back(counters_.Launch(program, cores, value, clocks, padding));
    cores_.push_back(cores);
  }
  Status Record() {
    const std::vector<Duration> each(launches_.size(), Duration(1));
    ASSIGN_OR_RETURN(trace_, BuildTrace(card_->geometry(), route_, launches_,
                                        {Duration(segment_launches_), each}));
    return card_.Record(route_, trace_, base_);
  }
  Status Replay(std::vector<TracePatch> patches = {}) {
    for (const TracePatch& patch : patches) {
      launches_[patch.launch].arguments[patch.kernel] = patch.arguments;
    }
    std::stable_sort(patches.begin(), patches.end(),
                     [](const TracePatch& a, const TracePatch& b) { return a.launch < b.launch; });
    RETURN_IF_ERROR(card_.Replay(route_, trace_, patches));
    for (size_t i = 0; i < launches_.size(); ++i) {
      counters_.Expect(cores_[i], launches_[i].arguments[0].common[2]);
    }
    return OkStatus();
  }
  TracePatch PatchOf(uint32_t launch, uint32_t value) const {
    TracePatch patch{launch, 0, launches_[launch].arguments[0]};
    patch.arguments.common[2] = value;
    return patch;
  }
  void Release() { trace_.reset(); }
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  BootedCard& card_;
  BumpCounters& counters_;
  const Route route_;
  const uint32_t base_;
  const uint32_t segment_launches_;
  std::vector<LaunchCommand> launches_;
  std::vector<CoreRange> cores_;
  std::shared_ptr<Trace> trace_;
};

constexpr uint32_t kTraceAt = 0x200000;
constexpr CoreRange kAll = {0, 0, 10, 9};
constexpr CoreRange kOne = {3, 3, 3, 3};
constexpr CoreRange kHalf = {0, 0, 4, 9};

// With a kernel of its own, of which the workers' caches hold five.
std::shared_ptr<const Program> LargeProgramOn(BootedCard& card, const CoreRange& cores) {
  ProgramSpec spec;
  spec.kernels.push_back({CopyOfTestKernel("bump_brisc", 24'000), hw::kBrisc, {cores}});
  return TestProgram(spec, card->description().grid);
}

CardOptions SmallRings() {
  CardOptions options;
  options.issue_ring_bytes = 256 * 1024;
  options.fetch_queue_entries = 16;
  options.command_ring_bytes = 32 * 1024;
  return options;
}

// Kernels that displace each other in the workers' caches, both hardware queues, patches, small rings: what a refused
// command would have changed is not there when the next one comes, and that is mostly another.
TEST(DispatchTrace, ACommandThatFoundNoSpace_LeavesNothingBehind) {
  BootedCard card("sim:board=p100a", SmallRings());
  BumpCounters counters(card);
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<CoreRange> cores;
  for (uint32_t i = 0; i < 9; ++i) {
    cores.push_back(i % 3 == 0 ? kAll : i % 3 == 1 ? kOne : kHalf);
    programs.push_back(LargeProgramOn(card, cores.back()));
  }
  BumpTrace traces[] = {{card, counters, {0, {}}, kTraceAt, 2},
                        {card, counters, {1, {}}, 2 * kTraceAt, 2}};
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t launch = 0; launch < 3; ++launch) traces[i].Add(programs[i], cores[i], launch);
    ASSERT_TRUE(traces[i].Record().ok());
  }
  uint32_t values[2][3] = {{0, 1, 2}, {0, 1, 2}};  // of the launches of the traces
  Random random(8);
  int taken = 0, refused = 0;
  while (taken < 600) {
    const uint32_t queue = random() % 2, value = random() % 1000, launch = random() % 3;
    const size_t program = random() % programs.size();
    const bool replay = random() % 3 == 0;
    Command command = counters.Launch(programs[program], cores[program], value, random() % 500);
    if (replay) {
      command = ReplayTraceCommand{
          traces[queue].trace(), {traces[queue].PatchOf(launch, value)}, launch / 2};
    }
    const auto ticket = card->TrySubmit({queue, {}}, command);
    ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
    if (!ticket->has_value()) {
      ++refused;
      ASSERT_TRUE(card->RequestEvent({queue, card->submitted(queue)}).ok());
      ASSERT_TRUE(card->Poll().ok());
      continue;
    }
    ++taken;
    if (replay) {
      values[queue][launch] = value;
      const SegmentExtent extent = TraceSegmentExtent(*traces[queue].trace(), launch / 2);
      for (uint32_t i = extent.begin; i < extent.end; ++i) {
        counters.Expect(cores[queue], values[queue][i]);
      }
    } else {
      counters.Expect(cores[program], value);
    }
  }
  EXPECT_GT(refused, 100);
  ASSERT_TRUE(card.Finish().ok());
  counters.ExpectRight();
  ASSERT_TRUE(card->Boot().ok());  // the traces are sent anew, as the host knows them
  ASSERT_TRUE(counters.Reset().ok());
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(card.Replay({i, {}}, traces[i].trace()).ok());
    for (const uint32_t adds : values[i]) counters.Expect(cores[i], adds);
  }
  ASSERT_TRUE(card.Finish().ok());
  counters.ExpectRight();
}

TEST(DispatchTrace, ReplaysItsLaunchesAnyNumberOfTimes) {
  BootedCard card;
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  const auto all = counters.ProgramOn(kAll), one = counters.ProgramOn(kOne),
             half = counters.ProgramOn(kHalf);
  for (uint32_t i = 0; i < 40; ++i) {
    trace.Add(all, kAll, i + 1, i % 3 * 500);
    trace.Add(one, kOne, 7, 0, i % 2);
    trace.Add(half, kHalf, 100, 0, 250);
  }
  ASSERT_TRUE(trace.Record().ok());
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(trace.Replay().ok());
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchTrace, ManySegmentsDoAsOneDoes) {
  BootedCard card;
  BumpCounters counters(card);
  // One for programs that go to all workers, to few, and that need their own table of targets.
  BumpTrace trace(card, counters, Route(), kTraceAt, 7);
  const auto all = counters.ProgramOn(kAll), one = counters.ProgramOn(kOne),
             half = counters.ProgramOn(kHalf);
  for (uint32_t i = 0; i < 40; ++i) {
    trace.Add(all, kAll, i + 1, i % 3 * 500);
    trace.Add(one, kOne, 7, 0, i % 2);
    trace.Add(half, kHalf, 100, 0, 250);
  }
  ASSERT_TRUE(trace.Record().ok());
  ASSERT_EQ(TraceSegments(*trace.trace()), 18u);
  Random random(4);
  for (int i = 0; i < 25; ++i) {
    std::vector<TracePatch> patches;
    for (uint32_t k = random() % 4; k > 0; --k) {
      patches.push_back(trace.PatchOf(random() % 40 * 3, random() % 1000));
    }
    ASSERT_TRUE(trace.Replay(std::move(patches)).ok());
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

// As the daemon may have it: launches of others, on the same workers and the other hardware queue, between segments.
TEST(DispatchTrace, OtherLaunchesMayRunBetweenSegments) {
  BootedCard card;
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt, 3);
  const auto all = counters.ProgramOn(kAll), one = counters.ProgramOn(kOne),
             half = counters.ProgramOn(kHalf);
  for (uint32_t i = 0; i < 8; ++i) {
    trace.Add(all, kAll, i);
    trace.Add(one, kOne, 3);
  }
  ASSERT_TRUE(trace.Record().ok());
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    for (uint32_t segment = 0; segment < TraceSegments(*trace.trace()); ++segment) {
      ASSERT_TRUE(card.Submit(ReplayTraceCommand{trace.trace(), {}, segment}).ok());
      const CoreRange& cores = random() % 2 == 0 ? kHalf : kOne;
      const uint32_t value = random() % 100;
      counters.Expect(cores, value);
      ASSERT_TRUE(card.Submit({random() % 2, {}},
                              counters.Launch(&cores == &kHalf ? half : one, cores, value))
                      .ok());
    }
    for (uint32_t k = 0; k < 8; ++k) {
      counters.Expect(kAll, k);
      counters.Expect(kOne, 3);
    }
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchTrace, CountsOnThroughTheEndOfTheWorkerCounter) {
  BootedCard card;
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  const auto all = counters.ProgramOn(kAll);
  // More completions than one segment may have, and then so many launches that the counter wraps.
  const auto workers = static_cast<uint32_t>(counters.expected.size());
  for (uint32_t i = 0; i < kMaxSegmentCompletions / workers + 100; ++i) trace.Add(all, kAll, 1);
  ASSERT_TRUE(trace.Record().ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(trace.Replay().ok());
    for (uint32_t i = 0; i < (1u << 17) / workers; ++i) {
      ASSERT_TRUE(counters.Add(all, kAll, 5).ok());
    }
  }
  counters.ExpectRight();
}

TEST(DispatchTrace, TakesNewArgumentsBetweenReplays) {
  BootedCard card;
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  const auto all = counters.ProgramOn(kAll), one = counters.ProgramOn(kOne);
  for (uint32_t i = 0; i < 10; ++i) {
    trace.Add(all, kAll, i, 800);
    trace.Add(one, kOne, i);
  }
  ASSERT_TRUE(trace.Record().ok());
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    std::vector<TracePatch> patches;
    for (uint32_t k = random() % 4; k > 0; --k) {
      patches.push_back(trace.PatchOf(random() % 20, random()));
    }
    // Without waiting: the replay before must not see the new words, the next one must.
    ASSERT_TRUE(trace.Replay(std::move(patches)).ok());
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchTrace, TwoLiveBesideOrdinaryWorkOfBothQueues) {
  BootedCard card;
  BumpCounters counters(card);
  const Route right{0, TilesOf({5, 0, 10, 9}, card->description().grid)};
  const CoreRange in_right{6, 2, 9, 9};
  BumpTrace first(card, counters, Route(), kTraceAt);
  BumpTrace second(card, counters, right, kTraceAt + 0x100000);
  const auto all = counters.ProgramOn(kAll), one = counters.ProgramOn(kOne),
             part = counters.ProgramOn(in_right);
  for (uint32_t i = 0; i < 12; ++i) {
    first.Add(all, kAll, i);
    second.Add(part, in_right, 1000 + i);
  }
  first.Add(one, kOne, 3);
  ASSERT_TRUE(first.Record().ok());
  ASSERT_TRUE(second.Record().ok());
  Random random(8);
  const Region upload{MemoryKind::kDram, -1, 0x800000, 2048, 1 << 20};
  const auto data = Pattern(64 * 1024, 1);
  for (int i = 0; i < 150; ++i) {
    switch (random() % 5) {
      case 0:
        ASSERT_TRUE(first.Replay().ok());
        break;
      case 1:
        ASSERT_TRUE(second.Replay().ok());
        break;
      case 2:
        ASSERT_TRUE(counters.Add(all, kAll, random(), 200).ok());
        break;
      case 3: {
        const uint32_t value = random();
        counters.Expect(kOne, value);
        ASSERT_TRUE(card.Submit({1, {}}, counters.Launch(one, kOne, value)).ok());
        break;
      }
      default:
        ASSERT_TRUE(card.Submit({1, {}}, WriteCommand{upload, 0, data}).ok());
    }
  }
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

TEST(DispatchTrace, ASetMadeByRecordingMayBeLaunchedOnByTheOtherQueue) {
  BootedCard card;
  BumpCounters counters(card);
  const GridSize grid = card->description().grid;
  const CoreRange area{6, 2, 9, 9};
  const auto part = counters.ProgramOn(area), one = counters.ProgramOn(kOne);
  // Resident already, so that recording launches nothing.
  ASSERT_TRUE(counters.Add(part, area, 1).ok());
  ASSERT_TRUE(counters.Add(one, kOne, 1).ok());
  ASSERT_TRUE(card.Finish().ok());
  const Route left{0, TilesOf(kHalf, grid)}, right{0, TilesOf({5, 0, 10, 9}, grid)};
  counters.Expect(kOne, 5);
  ASSERT_TRUE(card.Submit(left, counters.Launch(one, kOne, 5, 50'000)).ok());
  BumpTrace trace(card, counters, right, kTraceAt);
  trace.Add(part, area, 3);
  ASSERT_TRUE(trace.Record().ok());
  counters.Expect(area, 7);
  ASSERT_TRUE(card.Submit({1, right.workers}, counters.Launch(part, area, 7)).ok());
  ASSERT_TRUE(trace.Replay().ok());
  const Status done = card.Finish();
  ASSERT_TRUE(done.ok()) << done.ToString();
  counters.ExpectRight();
}

// Programs of one large image on many tiles: nothing of it is resident when it is replayed after a boot.
TEST(DispatchTrace, ItsKernelsAreSentAgainAfterABootHoweverMany) {
  BootedCard card;
  BumpCounters counters(card);
  const auto image = std::make_shared<KernelImage>(*TestKernel("bump_brisc"));
  image->bytes.resize(60'000);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  for (uint32_t y = 0; y < 10; ++y) {
    for (uint32_t x = 0; x < 11; ++x) {
      const CoreRange tile{x, y, x, y};
      ProgramSpec spec;
      spec.kernels.push_back({image, hw::kBrisc, {tile}});
      trace.Add(TestProgram(spec, card->description().grid), tile, 1 + x + y);
    }
  }
  ASSERT_TRUE(trace.Record().ok());
  ASSERT_TRUE(card.Finish().ok());
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(counters.Reset().ok());
  const Status replayed = trace.Replay();
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  counters.ExpectRight();
}

TEST(DispatchTrace, IsRecordedAgainAfterABoot) {
  BootedCard card;
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  const auto all = counters.ProgramOn(kAll);
  for (uint32_t i = 0; i < 5; ++i) trace.Add(all, kAll, 1);
  ASSERT_TRUE(trace.Record().ok());
  ASSERT_TRUE(trace.Replay({trace.PatchOf(2, 50)}).ok());
  counters.ExpectRight();
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(counters.Reset().ok());
  ASSERT_TRUE(trace.Replay().ok());
  counters.ExpectRight();
}

// An image of its own for each program, as large as the cache allows to hold two of.
std::shared_ptr<const Program> LargeOn(const BootedCard& card, const CoreRange& cores) {
  ProgramSpec spec;
  spec.kernels.push_back({CopyOfTestKernel("large_brisc"), hw::kBrisc, {cores}});
  return TestProgram(spec, card->description().grid);
}

TEST(DispatchTrace, PatchesOfAReplayThatWasNotSent_AreUndone) {
  LateDevice* device = nullptr;
  BootedCard card("sim:board=p100a", {}, [&device](std::unique_ptr<Device> opened) {
    auto late = std::make_unique<LateDevice>(std::move(opened));
    device = late.get();
    return late;
  });
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  trace.Add(counters.ProgramOn(kOne), kOne, 5);
  ASSERT_TRUE(trace.Record().ok());
  ASSERT_TRUE(card.Finish().ok());
  device->before_write = [](uint64_t) { return Error(StatusCode::kInternal, "the link is down"); };
  const ReplayTraceCommand patched{trace.trace(), {trace.PatchOf(0, 100)}};
  EXPECT_EQ(card->TrySubmit(patched).status().code(), StatusCode::kInternal);
  device->before_write = nullptr;
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(trace.Replay().ok());
  ASSERT_TRUE(card.Finish().ok());
  counters.ExpectRight();
}

// Its records are more than an entry takes: the first is announced, which fails, while the next is put in.
TEST(DispatchTrace, ARecordingThatWasNotSent_IsNone) {
  LateDevice* device = nullptr;
  BootedCard card("sim:board=p100a", {}, [&device](std::unique_ptr<Device> opened) {
    auto late = std::make_unique<LateDevice>(std::move(opened));
    device = late.get();
    return late;
  });
  BumpCounters counters(card);
  BumpTrace trace(card, counters, Route(), kTraceAt);
  const auto program = counters.ProgramOn(kAll);
  for (uint32_t i = 0; i < 200; ++i) trace.Add(program, kAll, 5);
  device->before_write = [](uint64_t) { return Error(StatusCode::kInternal, "the link is down"); };
  ASSERT_EQ(trace.Record().code(), StatusCode::kInternal);
  device->before_write = nullptr;
  ASSERT_TRUE(card->Boot().ok());
  const Status replayed = card->TrySubmit(ReplayTraceCommand{trace.trace(), {}}).status();
  EXPECT_EQ(replayed.code(), StatusCode::kInvalidArgument) << replayed.ToString();
}

TEST(DispatchTrace, PinsItsKernelsUntilItIsReleased) {
  BootedCard card;
  const auto launch = [](const std::shared_ptr<const Program>& program) {
    KernelArguments arguments;
    arguments.common = {abi::kBufferAddress};
    return LaunchCommand{program, {arguments}};
  };
  std::vector<std::shared_ptr<const Program>> programs;
  for (uint32_t i = 0; i < 5; ++i) programs.push_back(LargeOn(card, kOne));
  std::vector<std::shared_ptr<Trace>> traces;
  const auto record = [&](uint32_t which) {
    auto trace = BuildTrace(card->geometry(), Route(), {launch(programs[which])});
    EXPECT_TRUE(trace.ok()) << trace.status().ToString();
    traces.push_back(*trace);
    return card.Record(Route(), *trace, kTraceAt + which * 0x10000);
  };
  // 40 KiB each: three fit 128 KiB.
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(record(i).ok());
  const Status full = card.Submit(launch(programs[3]));
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted) << full.ToString();
  EXPECT_THAT(std::string(StatusMessage(full)), HasSubstr("release a trace"));
  EXPECT_EQ(record(4).code(), StatusCode::kResourceExhausted);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(card.Replay(Route(), traces[i]).ok());
  }
  ASSERT_TRUE(card.Finish().ok());
  traces.clear();
  EXPECT_TRUE(card.Submit(launch(programs[3])).ok());
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
}

TEST(DispatchTrace, EqualKernels_ArePinnedOnce) {
  BootedCard card;
  KernelArguments arguments;
  arguments.common = {abi::kBufferAddress};
  std::vector<std::shared_ptr<Trace>> traces;
  // 40 KiB each, loaded one by one: three copies would fit 128 KiB.
  for (uint32_t i = 0; i < 5; ++i) {
    ProgramSpec spec;
    spec.kernels.push_back({TestKernel("large_brisc"), hw::kBrisc, {kOne}});
    const auto program = TestProgram(spec, card->description().grid);
    traces.push_back(*BuildTrace(card->geometry(), Route(), {LaunchCommand{program, {arguments}}}));
    const Status recorded = card.Record(Route(), traces.back(), kTraceAt + i * 0x10000);
    ASSERT_TRUE(recorded.ok()) << recorded.ToString();
  }
  for (const auto& trace : traces) ASSERT_TRUE(card.Replay(Route(), trace).ok());
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
}

TEST(DispatchTrace, ARefusedSegment_PinsNothing) {
  BootedCard card;
  // 40 KiB each: three fit 128 KiB.
  std::vector<LaunchCommand> launches;
  for (uint32_t i = 0; i < 4; ++i) {
    KernelArguments arguments;
    arguments.common = {abi::kBufferAddress};
    launches.push_back({LargeOn(card, kOne), {arguments}});
  }
  const auto refused = *BuildTrace(card->geometry(), Route(), launches);
  EXPECT_EQ(card.Record(Route(), refused, kTraceAt).code(), StatusCode::kResourceExhausted);
  for (uint32_t round = 0; round < 2; ++round) {
    for (const LaunchCommand& launch : launches) {
      const Status sent = card.Submit(launch);
      ASSERT_TRUE(sent.ok()) << sent.ToString();
    }
  }
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
}

TEST(DispatchTrace, RefusesWhatCannotBeReplayed) {
  BootedCard card;
  BumpCounters counters(card);
  const CardGeometry& geometry = card->geometry();
  const auto all = counters.ProgramOn(kAll);
  const auto message = [](const Status& status) { return std::string(StatusMessage(status)); };
  EXPECT_EQ(BuildTrace(geometry, Route(), {}).status().code(), StatusCode::kInvalidArgument);
  const Route half{0, TilesOf(kHalf, card->description().grid)};
  EXPECT_THAT(message(BuildTrace(geometry, half, {counters.Launch(all, kAll, 1)}).status()),
              HasSubstr("launch 0: the program runs on core (5,0)"));
  const std::vector<LaunchCommand> many(kMaxTraceLaunches + 1, counters.Launch(all, kAll, 1));
  EXPECT_EQ(BuildTrace(geometry, Route(), many).status().code(), StatusCode::kResourceExhausted);
  const auto one = counters.ProgramOn(kOne);
  const std::vector<LaunchCommand> large(6000, counters.Launch(one, kOne, 1, 0, 250));
  const Status too_large = BuildTrace(geometry, Route(), large).status();
  EXPECT_EQ(too_large.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(too_large), HasSubstr("the trace is too large"));

  const auto trace = *BuildTrace(geometry, Route(), {counters.Launch(all, kAll, 1)});
  EXPECT_THAT(message(card.Submit(ReplayTraceCommand{trace, {}})), HasSubstr("never recorded"));
  TracePatch patch{1, 0, {}};
  EXPECT_THAT(message(CheckTracePatch(*trace, patch)), HasSubstr("launch 1 of a trace of 1"));
  patch.launch = 0;
  EXPECT_THAT(message(CheckTracePatch(*trace, patch)),
              HasSubstr("other numbers of argument words"));
  EXPECT_THAT(message(card.Submit(ReplayTraceCommand{trace, {}, 1})),
              HasSubstr("segment 1 of a trace of 1"));
  const Region linear{MemoryKind::kDram, 2, kTraceAt, TracePageBytes(*trace), TraceBytes(*trace)};
  EXPECT_THAT(message(card.Submit(RecordTraceCommand{trace, linear})),
              HasSubstr("interleaved over all banks"));
  EXPECT_EQ(card.Submit({1, {}}, RecordTraceCommand{trace, linear}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(card.Finish().ok());
}

}  // namespace
}  // namespace ttfd
