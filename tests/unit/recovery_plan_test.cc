// Plans of recovery for recorded snapshots of stopped cards: outcomes of slices, the offender, the suspect.
// tests/integration/dispatch_snapshot_test.cc records the snapshots.
#include "daemon/card/recovery_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "runtime/card/execution_state.h"
#include "runtime/card/pipeline_report.h"
#include "runtime/card/snapshot_file.h"
#include "runtime/card/stall_diagnosis.h"
#include "tests/support/slice_order.h"

namespace ttfd::recovery_plan_test {
namespace {

constexpr SliceOutcome kCompleted = SliceOutcome::kCompleted, kRequeued = SliceOutcome::kRequeued,
                       kAborted = SliceOutcome::kAborted, kInterrupted = SliceOutcome::kInterrupted;
constexpr GridSize kGrid = {11, 10};
constexpr int32_t kNoTile = -1;  // a launch whose program no tile has begun
constexpr size_t kNone = SIZE_MAX;

// A slice that was on the card: a launch of the program that this worker began last, or a fill.
struct OnCard {
  uint64_t session = 1;
  std::optional<int32_t> worker = {};
  uint32_t suspected = 0;
};

struct Stop {
  const char* name;
  const char* snapshot;
  std::vector<OnCard> slices;  // as many as the snapshot has in flight, queue 0 first
  std::vector<SliceOutcome> outcomes;
  size_t offender = kNone;
  size_t suspect = kNone;
  std::optional<StopPlace> place = {};
  std::optional<FirmwareDamage> damage = {};  // besides what was recorded
  std::vector<uint64_t> ended = {};           // sessions of launches before
};

void PrintTo(const Stop& stop, std::ostream* to) { *to << stop.name; }

class RecordedCard {
 public:
  explicit RecordedCard(const std::string& name) {
    std::ifstream file(std::string(TTFD_SNAPSHOTS) + '/' + name + ".json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    StatusOr<StoppedCard> parsed = ParseSnapshot(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
    if (!parsed.ok()) return;
    card_ = *std::move(parsed);
    stall = DiagnoseCard(card_.card, card_.hosts);
    const Staged<KernelCache> kernels(KernelCache(0, 0));
    const ProgramRegistry programs;
    stall.harts = ReportPipeline(card_.card, CodeMap(FirmwareSet(), kernels, programs));
  }

  // Fills in tickets and states of the commands in flight.
  void Add(const std::vector<OnCard>& slices) {
    size_t next = 0;
    for (uint32_t queue = 0; queue < card_.hosts.size(); ++queue) {
      for (const CommandState& command : card_.hosts[queue].in_flight) {
        ASSERT_LT(next, slices.size());
        AddSlice(slices[next++], {queue, command.ticket});
        states_.push_back(StateOf(&card_.card.queues[queue], card_.hosts[queue], command));
      }
    }
    EXPECT_EQ(next, slices.size());
    for (size_t i = 0; i < next; ++i) stopped.push_back({&entries_[i], states_[i]});
  }

  void End(uint64_t session) { ended.Add(0, Launch(session, kNoTile)); }

  StallReport stall;
  RecentLaunches ended;
  std::vector<StoppedSlice> stopped;

 private:
  void AddSlice(const OnCard& one, Ticket ticket) {
    SubmittedSlice& entry = entries_.emplace_back();
    entry.slice = one.worker.has_value() ? Launch(one.session, *one.worker) : Fill(one.session);
    entry.slice.route.hardware_queue = ticket.hardware_queue;
    entry.slice.suspected = one.suspected;
    entry.ticket = ticket.number;
    entry.turn = entries_.size();
  }
  Slice Launch(uint64_t session, int32_t worker) {
    const uint32_t id = worker == kNoTile ? 999 : stall.tiles[static_cast<size_t>(worker)].program;
    const uint32_t tile = worker == kNoTile ? 0 : static_cast<uint32_t>(worker);
    ProgramSpec spec;
    auto image = std::make_shared<KernelImage>();
    image->bytes.resize(64);
    const uint32_t x = tile % kGrid.x, y = tile / kGrid.x;
    spec.kernels.push_back({image, hw::kBrisc, {{x, y, x, y}}});
    Slice slice = Fill(session);
    slice.command = LaunchCommand{*BuildProgram(id, spec, kGrid), {}};
    slice.launches = 1;
    slice.programs = std::make_shared<std::vector<uint32_t>>(1, id);
    return slice;
  }
  Slice Fill(uint64_t session) {
    OrderedSlice one;
    one.session = session;
    one.slice.command = FillCommand{{MemoryKind::kDram, -1, 0x100000, 64, 64}, 0, 64, 0};
    order_.Name(&one);
    return std::move(one.slice);
  }

  StoppedCard card_;
  SliceOrder order_;
  std::deque<SubmittedSlice> entries_;
  std::vector<ExecutionState> states_;
};

class RecoveryPlanOf : public ::testing::TestWithParam<Stop> {};

TEST_P(RecoveryPlanOf, ARecordedCard) {
  const Stop& stop = GetParam();
  RecordedCard card(stop.snapshot);
  card.Add(stop.slices);
  for (const uint64_t session : stop.ended) card.End(session);
  if (stop.damage.has_value()) card.stall.damage.push_back(*stop.damage);
  const RecoveryPlan plan = PlanRecovery(card.stopped, card.ended, card.stall, stop.place);
  EXPECT_EQ(plan.offender.value_or(kNone), stop.offender);
  EXPECT_EQ(plan.suspect.value_or(kNone), stop.suspect);
  std::vector<SliceOutcome> outcomes;
  for (const RecoveryPlan::Step& step : plan.steps) outcomes.push_back(step.outcome);
  EXPECT_EQ(outcomes, stop.outcomes);
}

// A kernel hangs on worker 25, between launches on all workers of others.
const std::vector<OnCard> kHang = {{1, 0}, {2, 25}, {1, 0}, {1}};
const std::vector<SliceOutcome> kNamed = {kCompleted, kAborted, kRequeued, kRequeued};
const std::vector<SliceOutcome> kNotNamed = {kCompleted, kInterrupted, kRequeued, kRequeued};

FirmwareDamage OfWorker(int32_t worker) {
  return {.where = "worker", .what = "BRISC kernel", .worker = worker};
}
FirmwareDamage OfQueue(int32_t queue) {
  return {.where = "dispatch", .what = "BRISC firmware", .hardware_queue = queue};
}

INSTANTIATE_TEST_SUITE_P(
    Snapshots, RecoveryPlanOf,
    ::testing::Values(
        Stop{"AKernelThatNeverEnds", "kernel_never_ends", kHang, kNamed, 1},
        Stop{"ItsTimeIsUp", "kernel_never_ends", kHang, kNamed, 1, kNone, StopPlace{0, 2}},
        Stop{"NoHartIsInItsProgram",
             "kernel_never_ends",
             {{1, 0}, {2, kNoTile}, {1, 0}, {1}},
             kNotNamed,
             kNone,
             1},
        Stop{"ItsWorkerWasOverwritten",
             "kernel_never_ends",
             kHang,
             kNotNamed,
             kNone,
             1,
             {},
             OfWorker(25)},
        Stop{"AnotherWorkerWasOverwritten",
             "kernel_never_ends",
             kHang,
             kNamed,
             1,
             kNone,
             {},
             OfWorker(26)},
        Stop{"AHardwareQueueWasOverwritten",
             "kernel_never_ends",
             kHang,
             kNotNamed,
             kNone,
             1,
             {},
             OfQueue(1)},
        Stop{"OverwrittenWhereOnlyItsSessionRan",
             "kernel_never_ends",
             {{2, 0}, {2, 25}, {1, 0}, {1}},
             kNamed,
             1,
             kNone,
             {},
             OfWorker(25),
             {2}},
        Stop{"OverwrittenWhereAnotherHadRun",
             "kernel_never_ends",
             {{2, 0}, {2, 25}, {1, 0}, {1}},
             kNotNamed,
             kNone,
             1,
             {},
             OfWorker(25),
             {2, 3}},
        Stop{"OverwrittenByTheOnlySessionWithTheWorkersStatus",
             "kernel_never_ends",
             {{2, 0}, {2, kNoTile}, {2, 0}, {1}},
             kNamed,
             1,
             kNone,
             {},
             OfWorker(25),
             {2}},
        Stop{"TheCardTakesNoMore", "kernel_never_ends", kHang, kNotNamed, kNone, kNone,
             StopPlace{0, 0, true}},
        Stop{"AGoSignalThatIsHeld", "held_go", {{1, 0}}, {kRequeued}, kNone, 0},
        Stop{"SuspectedTwice", "held_go", {{1, 0, 1}}, {kInterrupted}, kNone, 0},
        Stop{"ADispatcherThatFaulted", "overwritten_dispatcher", {{1, 0}}, {kRequeued}, kNone, 0},
        Stop{"TheElderOfTwoThatHang",
             "worker_sets",
             {{1, 0}, {2, 12}, {2, 12}},
             {kAborted, kInterrupted, kRequeued},
             0},
        Stop{"TheOneWhoseTimeIsUp",
             "worker_sets",
             {{1, 0}, {2, 12}, {2, 12}},
             {kInterrupted, kAborted, kRequeued},
             1,
             kNone,
             StopPlace{0, 3}},
        Stop{"ATraceStoppedInItsMiddle",
             "trace",
             {{1, 0}, {2, 12}, {2, 12}},
             {kCompleted, kAborted, kRequeued},
             1},
        Stop{"AQueueThatWaitsForTheOther",
             "queue_waits_for_queue",
             {{1, 0}, {2}},
             {kAborted, kRequeued},
             0}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace ttfd::recovery_plan_test
