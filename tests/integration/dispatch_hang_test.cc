// What happens when a program hangs or dies: it is found, named, and repaired by a boot that keeps
// device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "tests/support/booted_card.h"
#include "tests/support/bump_counters.h"
#include "tests/support/meddled_device.h"
#include "tests/support/test_kernels.h"

namespace ttfd {
namespace {

using enum ExecutionState;

using testing::Contains;
using testing::HasSubstr;

Status RunToTheEnd(BootedCard& card, const LaunchCommand& launch) {
  RETURN_IF_ERROR(card.Submit(launch));
  return card.Finish();
}

std::shared_ptr<const Program> OnOneTile(BootedCard& card,
                                         const std::shared_ptr<const KernelImage>& image) {
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {{3, 2, 3, 2}}});
  spec.semaphores.push_back({0, 0, {{3, 2, 3, 2}}});
  return TestProgram(spec, card->description().grid, 42);
}

TEST(DispatchHang, IsFoundAtOnceAndNamesEveryStage) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  const Status status = RunToTheEnd(card, LaunchCommand{program, {KernelArguments{}}});
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.ToString();
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("nothing can move any more"));

  std::string all;
  for (const HartReport& report : card->probe().Harts()) {
    all += report.where + " [" + report.waypoint + "] " + report.text + "\n";
    if (report.where.find("worker") == 0) {
      EXPECT_NE(report.pc, 0u) << "the model tells where the hart is";
    }
  }
  EXPECT_THAT(all, HasSubstr("worker (3,2) tile (4,4) BRISC [KSEM] runs a kernel that waits for a "
                             "semaphore, program 42"));
  EXPECT_THAT(all,
              HasSubstr("dispatch (14,3) BRISC [PWW] waits for workers on stream 48: count 111, "
                        "has 110, 1 of 110 missing"));
  EXPECT_THAT(all, HasSubstr("prefetch (14,2) BRISC [HQW] is idle"));
  EXPECT_THAT(all, HasSubstr("dispatch_s (14,3) NCRISC [UAPW] is idle"));

  // The prefetcher has taken them long ago; the card is still at what they say.
  const HostQueueRecord host = card->probe().HostRecord(0);
  EXPECT_EQ(host.entries_lost, 0u);
  EXPECT_THAT(host.records, Contains(HasSubstr("SEND_GO_SIGNAL")));
}

// By then the card may be in reset, its counters cleared.
TEST(DispatchHang, HowFarLaunchesWereIsKnownFromWhenTheCardWasLookedAt) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  for (const bool first_of_a_boot : {true, false}) {
    BootedCard card;
    ProgramSpec spec;
    spec.kernels.push_back({TestKernel("probe_brisc"), hw::kBrisc, {{0, 0, 10, 9}}});
    const KernelArguments arguments = {
        {abi::kBufferAddress, 1, 2, 0}, 4, std::vector<uint32_t>(4 * 110)};
    const auto ends = TestProgram(spec, card->description().grid);
    if (!first_of_a_boot) {
      ASSERT_TRUE(RunToTheEnd(card, LaunchCommand{ends, {arguments}}).ok());
    }
    ASSERT_TRUE(card.Submit(LaunchCommand{ends, {arguments}}).ok());
    const Ticket ended = card.Last(0);
    const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
    ASSERT_TRUE(card.Submit(LaunchCommand{program, {KernelArguments{}}}).ok());
    const Ticket hung = card.Last(0);
    ASSERT_TRUE(card.Submit(LaunchCommand{ends, {arguments}}).ok());
    EXPECT_EQ(card.Finish().code(), StatusCode::kDeadlineExceeded);
    const CardStop stop = card->Halt();
    ASSERT_TRUE(card.device->Reset().ok());
    EXPECT_EQ(stop.StateOf(ended), kCompleted);
    EXPECT_EQ(stop.StateOf(hung), kRunning);
    EXPECT_EQ(stop.StateOf(card.Last(0)), kNotStarted);
  }
}

TEST(DispatchHang, StandingOf_AHungReplayIsRunning) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange area = {0, 0, 4, 9};
  const Route left{0, TilesOf(area, card->description().grid)};
  const auto program = counters.ProgramOn(area);
  const auto waits = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  const LaunchCommand ends = counters.Launch(program, area, 1);
  const auto trace =
      *BuildTrace(card->geometry(), left, {ends, LaunchCommand{waits, {KernelArguments{}}}, ends});
  ASSERT_TRUE(card.Record(left, trace, 0x200000).ok());
  // More completions before the replay than in it: the counter has shown larger numbers than it will.
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(card.Submit(left, ends).ok());
  ASSERT_TRUE(card.Finish().ok());
  ASSERT_TRUE(card.Submit(left, ends).ok());
  ASSERT_TRUE(card.Replay(left, trace).ok());
  const Ticket replay = card.Last(0);
  ASSERT_TRUE(card.Submit(left, ends).ok());
  EXPECT_EQ(card.Finish().code(), StatusCode::kDeadlineExceeded);
  const CardStop stop = card->Halt();
  EXPECT_TRUE(card->IsDone({0, replay.number - 1}));
  EXPECT_EQ(stop.StateOf(replay), kRunning);
  EXPECT_EQ(stop.StateOf(card.Last(0)), kNotStarted);
}

TEST(DispatchHang, OfATraceOnlyTheSegmentThatHangsHasBegun) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a library does not say at once that nothing moves");
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange area = {0, 0, 4, 9};
  const Route left{0, TilesOf(area, card->description().grid)};
  const LaunchCommand ends = counters.Launch(counters.ProgramOn(area), area, 1);
  const LaunchCommand hangs = {OnOneTile(card, TestKernel("wait_for_ever_brisc")),
                               {KernelArguments{}}};
  const std::vector<Duration> each(4, Duration(1));
  const auto trace =
      *BuildTrace(card->geometry(), left, {ends, hangs, ends, ends}, {Duration(1), each});
  ASSERT_EQ(TraceSegments(*trace), 4u);
  ASSERT_TRUE(card.Record(left, trace, 0x200000).ok());
  ASSERT_TRUE(card.Finish().ok());
  const uint64_t before = card.Last(0).number;
  for (uint32_t segment = 0; segment < 4; ++segment) {
    ASSERT_TRUE(card.Submit(left, ReplayTraceCommand{trace, {}, segment}).ok());
    ASSERT_TRUE(card.Event().ok());
  }
  EXPECT_EQ(card.Finish().code(), StatusCode::kDeadlineExceeded);
  const CardStop stop = card->Halt();
  const auto state = [&](uint64_t segment) { return stop.StateOf({0, before + 1 + segment}); };
  EXPECT_EQ(state(0), kCompleted);
  EXPECT_EQ(state(1), kUnknown) << "the next one is to clear the counter";
  EXPECT_EQ(state(2), kNotStarted);
  EXPECT_EQ(state(3), kNotStarted);
}

// The other hardware queue goes on while one is lost: what had not begun then is played again after the reset.
TEST(DispatchHang, WhatHadNotBegunWhenACardWasGivenUpNeverDoes) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else can show that a kernel did not run");
  BootedCard card;
  BumpCounters counters(card);
  const std::vector<std::byte> zero(counters.region().size_bytes);
  ASSERT_TRUE(card.Write(counters.region(), 0, zero).ok());
  ASSERT_TRUE(card.Finish().ok());
  const GridSize grid = card->description().grid;
  const CoreRange here = {5, 5, 5, 5};
  Route own{1, {}}, hung{0, {}};
  own.workers.set(5 * grid.x + 5);
  hung.workers.set(2 * grid.x + 3);
  const auto waits = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  ASSERT_TRUE(card.Submit(hung, LaunchCommand{waits, {KernelArguments{}}}).ok());
  const auto program = counters.ProgramOn(here);
  ASSERT_TRUE(card.Submit(own, counters.Launch(program, here, 1, /*clocks=*/300'000)).ok());
  const Ticket first = card.Last(1);
  ASSERT_TRUE(card.Submit(own, counters.Launch(program, here, 16)).ok());
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    ASSERT_TRUE(card.Event(queue).ok());
  }
  ASSERT_TRUE(card->Poll().ok());
  ASSERT_TRUE(card.device->Advance(50'000).ok());
  const CardStop stop = card->Halt();
  const StallReport& report = stop.stall;
  EXPECT_EQ(report.stage, StalledStage::kWorkers);
  ASSERT_GE(report.harts.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NE(report.harts[i].pc, 0u) << report.harts[i].where << ": where it stood is told";
  }
  EXPECT_EQ(stop.StateOf(card.Last(0)), kRunning);
  EXPECT_EQ(stop.StateOf(first), kRunning);
  EXPECT_EQ(stop.StateOf(card.Last(1)), kNotStarted);
  ASSERT_TRUE(card.device->Advance(1'000'000).ok());
  const Status booted = card->Boot();
  ASSERT_TRUE(booted.ok()) << booted.ToString();
  counters.ExpectRight();  // nor does the one that ran end: its hart was held
}

TEST(DispatchHang, WhatTheCardSaidLastIsHeardBeforeItIsJudged) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a library moves only when it is told to");
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, 4096};
  ASSERT_TRUE(card.Submit(FillCommand{region, 0, 4096, 1}).ok());
  ASSERT_TRUE(card.Event().ok());
  ASSERT_TRUE(card.device->Advance(100'000).ok());
  EXPECT_LT(card->completed(0), card.Last(0).number);
  card->Halt();
  EXPECT_EQ(card->completed(0), card.Last(0).number);
}

// Whoever has a report to write keeps the host's own records first.
TEST(DispatchHang, NobodyLooksAtTheCardBeforeHeIsAskedTo) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  auto opened = OpenTestDevice("sim:board=p100a");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  MeddledDevice device(*std::move(opened));
  auto created = FirmwareCard::Create(device, SteadyClock(), {});
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  FirmwareCard& card = **created;
  ASSERT_TRUE(card.Boot().ok());
  ProgramSpec spec;
  spec.kernels.push_back({TestKernel("wait_for_ever_brisc"), hw::kBrisc, {{3, 2, 3, 2}}});
  spec.semaphores.push_back({0, 0, {{3, 2, 3, 2}}});
  const auto program = TestProgram(spec, card.description().grid, 42);
  ASSERT_TRUE(card.TrySubmit(LaunchCommand{program, {KernelArguments{}}}).ok());
  ASSERT_TRUE(card.RequestEvent({0, 1}).ok());
  const int windows = device.windows;
  Status status;
  while (status.ok()) status = card.Poll();
  EXPECT_EQ(StatusMessage(status), "nothing can move any more");
  EXPECT_EQ(device.windows, windows);
  card.Halt();
  EXPECT_GT(device.windows, windows) << "that is what a look takes";
}

TEST(DispatchHang, StaysStalledUntilABootThatKeepsMemory) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0x1000, 2048, 10000};
  const auto data = Pattern(10000, 5);
  ASSERT_TRUE(card.Write(region, 0, data).ok());
  ASSERT_TRUE(card.Finish().ok());
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  const Status first = RunToTheEnd(card, LaunchCommand{program, {KernelArguments{}}});
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(card->Poll(), first);
  const uint64_t submitted = card->submitted(0);
  for (int round = 0; round < 3; ++round) {
    const Status booted = card->Boot();
    ASSERT_TRUE(booted.ok()) << booted.ToString();
    EXPECT_TRUE(card->idle());
    const auto read = card.Read(region, 0, data.size());
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(*read == data);
    ProgramSpec spec;
    spec.kernels.push_back({TestKernel("probe_brisc"), hw::kBrisc, {{0, 0, 10, 9}}});
    const KernelArguments arguments = {
        {abi::kBufferAddress, 1, 2, 0}, 4, std::vector<uint32_t>(4 * 110)};
    const Status ran =
        RunToTheEnd(card, LaunchCommand{TestProgram(spec, card->description().grid), {arguments}});
    ASSERT_TRUE(ran.ok()) << ran.ToString();
  }
  EXPECT_EQ(card->submitted(0), submitted + 6) << "tickets go on";
}

TEST(DispatchHang, IsDone_IsFalseForWhatABootDiscards) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0x1000, 2048, 4096};
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  uint64_t first_discarded = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(card.Submit(FillCommand{region, 0, 4096, 1}).ok());
    ASSERT_TRUE(card.Finish().ok());
    const Ticket done = card.Last(0);
    EXPECT_TRUE(card->IsDone(done));
    ASSERT_FALSE(RunToTheEnd(card, LaunchCommand{program, {KernelArguments{}}}).ok());
    const Ticket hung = card.Last(0);
    if (round == 0) first_discarded = hung.number;
    const CardStop stop = card->Halt();
    EXPECT_FALSE(card->IsDone(hung));
    EXPECT_NE(stop.StateOf(hung), kCompleted);
    ASSERT_TRUE(card->Boot().ok());
    EXPECT_FALSE(card->IsDone(hung)) << "it never ended";
    EXPECT_TRUE(card->IsDone({0, first_discarded - 1}));
    EXPECT_EQ(card->completed(0), hung.number) << "nothing of it is on the card";
  }
  EXPECT_FALSE(card->IsDone({0, first_discarded}));
}

TEST(DispatchHang, AFaultOfTheDeviceIsReportedWithItsPlace) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a simulator library names no place");
  BootedCard card;
  auto broken = std::make_shared<KernelImage>(*TestKernel("probe_brisc"));
  const auto header = LoadAt<abi::KernelImageHeader>(broken->bytes.data());
  StoreAt(broken->bytes.data() + header.entry_offset, uint32_t{0});  // no instruction
  const Status status =
      RunToTheEnd(card, LaunchCommand{OnOneTile(card, broken), {KernelArguments{}}});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("BRISC"));
  EXPECT_FALSE(card->probe().Harts().empty());
  ASSERT_TRUE(card->Boot().ok());
  EXPECT_TRUE(card.Finish().ok());
}

CardOptions SmallRings() {
  CardOptions options;
  options.issue_ring_bytes = 32 * 1024;
  options.fetch_queue_entries = 16;
  options.command_ring_bytes = 8 * 1024;
  return options;
}

TEST(DispatchHang, ARingThatStaysFull_IsNotWaitedForAndExplained) {
  BootedCard card("sim:board=p100a", SmallRings());
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  ASSERT_TRUE(card.Submit(LaunchCommand{program, {KernelArguments{}}}).ok());
  const auto data = Pattern(1024, 1);
  const Region region{MemoryKind::kDram, -1, 0, 2048, data.size()};
  StatusOr<std::optional<uint64_t>> taken = 0;
  for (int i = 0; i < 1000; ++i) {  // more than the rings of the card hold
    taken = card->TrySubmit(WriteCommand{region, 0, data});
    ASSERT_TRUE(taken.ok()) << taken.status().ToString();
    ASSERT_TRUE(card.device->Advance(10'000).ok());
  }
  EXPECT_FALSE(taken->has_value());
  EXPECT_THAT(ToString(card->Halt().stall),
              AllOf(HasSubstr("workers of CQ0 stopped: dispatcher waits for stream 48 to count"),
                    HasSubstr("so 1 workers are not done: (3,2) BRISC at KSEM, program 42")))
      << "a full queue is explained, not just announced";
}

TEST(DispatchHang, AKernelThatRunsOnIsProgressOnlyOfTheKernel) {
  BootedCard card;
  ProgramSpec spec;
  spec.kernels.push_back({TestKernel("bump_brisc"), hw::kBrisc, {{3, 2, 3, 2}}});
  const auto program = TestProgram(spec, card->description().grid, 42);
  KernelArguments arguments;
  // Longer than the polls below let the card go: those of a library are shorter.
  arguments.common = {0x40000, 64, 1, TestSimulator().empty() ? 3'000'000u : 300'000u};
  arguments.words_per_core = 1;
  arguments.per_core = {0};
  ASSERT_TRUE(card.Submit(LaunchCommand{program, {arguments}}).ok());
  ASSERT_TRUE(card.Event().ok());
  // Until the kernel runs and the pipeline waits for it.
  for (int polls = TestSimulator().empty() ? 1 : 5; polls > 0; --polls) {
    ASSERT_TRUE(card->Poll().ok());
  }
  const uint64_t stands = *card->probe().LookAt(0);
  const uint64_t other_stands = *card->probe().LookAt(1);
  ASSERT_TRUE(card->Poll().ok());
  EXPECT_EQ(*card->probe().LookAt(0), stands) << "the pipeline stands while the kernel runs";
  const StallReport report = card->probe().Diagnose(0);
  EXPECT_EQ(report.stage, StalledStage::kWorkers);
  EXPECT_THAT(report.text, HasSubstr("(3,2) BRISC at KRUN, program 42"));
  // Other work is progress, also while the kernel runs.
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, 4096};
  ASSERT_TRUE(card.Submit({1, {}}, FillCommand{region, 0, 4096, 1}).ok());
  ASSERT_TRUE(card.Event(1).ok());
  ASSERT_TRUE(card->Poll().ok());
  EXPECT_NE(*card->probe().LookAt(1), other_stands);
  EXPECT_EQ(*card->probe().LookAt(0), stands) << "each queue for itself";
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
  // The dispatcher comes to rest a little after it has answered, and a library moves only when it is told to.
  ASSERT_TRUE(card.device->Advance(10'000).ok());
  const StallReport rest = card->probe().Diagnose(0);
  EXPECT_EQ(rest.stage, StalledStage::kNone) << rest.text;
}

TEST(DispatchHang, AQueueThatWaitsForAnotherIsNotToBlame) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  ASSERT_TRUE(card.Submit({1, {}}, LaunchCommand{program, {KernelArguments{}}}).ok());
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, 4096};
  const Ticket after = card.Last(1);
  ASSERT_TRUE(card.Submit(Route(), FillCommand{region, 0, 4096, 1}, {&after, 1}).ok());
  const Status status = card.Finish();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(ToString(card->Halt().stall), HasSubstr("workers of CQ1 stopped"));
}

TEST(DispatchHang, AQueueThatHasNothingToDoIsNotToBlame) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("nobody else knows at once that nothing moves");
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, 4096};
  ASSERT_TRUE(card.Submit(FillCommand{region, 0, 4096, 1}).ok());
  ASSERT_TRUE(card.Event().ok());
  // The event for the other queue lies behind the host's: no completion tells of that entry.
  const Ticket after = card.Last(0);
  const auto program = OnOneTile(card, TestKernel("wait_for_ever_brisc"));
  const LaunchCommand launch{program, {KernelArguments{}}};
  ASSERT_TRUE(card.Submit({1, {}}, launch, {&after, 1}).ok());
  ASSERT_TRUE(card.Event(1).ok());
  Status status = OkStatus();
  for (int i = 0; i < 1000 && status.ok(); ++i) status = card->Poll();
  EXPECT_THAT(ToString(card->Halt().stall), HasSubstr("workers of CQ1 stopped"));
}

}  // namespace
}  // namespace ttfd
