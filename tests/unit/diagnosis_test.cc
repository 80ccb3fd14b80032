// Which stage stopped and what of each command is known, by recorded snapshots of stopped cards.
// tests/integration/dispatch_snapshot_test.cc records them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "runtime/card/execution_state.h"
#include "runtime/card/snapshot_file.h"
#include "runtime/card/stall_diagnosis.h"

namespace ttfd::diagnosis_test {
namespace {

using ::testing::HasSubstr;

constexpr ExecutionState kNotStarted = ExecutionState::kNotStarted,
                         kRunning = ExecutionState::kRunning, kUnknown = ExecutionState::kUnknown,
                         kCompleted = ExecutionState::kCompleted;

struct Recorded {
  const char* name;
  StalledStage stage;
  uint32_t hardware_queue;
  const char* text;
  std::vector<ExecutionState> states;  // of queue 0, then of queue 1, in the order of their tickets
  size_t damaged_tiles;
};

void PrintTo(const Recorded& recorded, std::ostream* to) { *to << recorded.name; }

std::string Read(const std::string& name) {
  std::ifstream file(std::string(TTFD_SNAPSHOTS) + '/' + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

StoppedCard Load(const std::string& name) {
  StatusOr<StoppedCard> stopped = ParseSnapshot(Read(name));
  EXPECT_TRUE(stopped.ok()) << stopped.status().ToString()
                            << "; TTFD_RECORD_SNAPSHOTS=tests/snapshots dispatch_snapshot_test "
                               "records them anew";
  return stopped.ok() ? *std::move(stopped) : StoppedCard();
}

class Diagnosis : public ::testing::TestWithParam<Recorded> {};

TEST_P(Diagnosis, OfARecordedCard) {
  const StoppedCard stopped = Load(GetParam().name);
  ASSERT_FALSE(stopped.card.queues.empty());
  const StallReport report = DiagnoseCard(stopped.card, stopped.hosts);
  EXPECT_EQ(StalledStageName(report.stage), StalledStageName(GetParam().stage)) << report.text;
  EXPECT_EQ(report.hardware_queue, GetParam().hardware_queue);
  EXPECT_THAT(report.text, HasSubstr(GetParam().text));
  EXPECT_EQ(report.damage.size(), GetParam().damaged_tiles);
  std::vector<ExecutionState> states;
  for (size_t queue = 0; queue < stopped.hosts.size(); ++queue) {
    for (const CommandState& one : stopped.hosts[queue].in_flight) {
      states.push_back(StateOf(&stopped.card.queues[queue], stopped.hosts[queue], one));
    }
  }
  EXPECT_EQ(states, GetParam().states);
}

INSTANTIATE_TEST_SUITE_P(
    Snapshots, Diagnosis,
    ::testing::Values(
        Recorded{"kernel_never_ends",
                 StalledStage::kWorkers,
                 0,
                 "(3,2) BRISC at KSEM, program",
                 {kCompleted, kRunning, kNotStarted, kUnknown},
                 0},
        Recorded{"worker_sets",
                 StalledStage::kWorkers,
                 0,
                 "workers are not done",
                 {kRunning, kRunning, kNotStarted},
                 0},
        Recorded{"trace",
                 StalledStage::kWorkers,
                 0,
                 "(1,1) BRISC",
                 {kCompleted, kRunning, kNotStarted},
                 0},
        Recorded{"held_go", StalledStage::kWorkers, 0, "the dispatcher's NOTIFY", {kNotStarted}, 0},
        Recorded{"overwritten_dispatcher",
                 StalledStage::kDispatchS,
                 0,
                 "waits for the dispatcher's NOTIFY",
                 {kNotStarted},
                 1},
        Recorded{"queue_waits_for_queue",
                 StalledStage::kWorkers,
                 0,
                 "(0,0) BRISC",
                 {kRunning, kUnknown},
                 0}),
    [](const auto& one) { return std::string(one.param.name); });

// A count that the launches do not explain proves nothing, nor does a tile that could not be read.
TEST(DiagnosisOfDoubt, IsUnclear) {
  StoppedCard stopped = Load("kernel_never_ends");
  ASSERT_FALSE(stopped.hosts.empty());
  QueueSnapshot queue = stopped.card.queues[0];
  const QueueState& host = stopped.hosts[0];
  const CommandState& hung = host.in_flight[1];
  EXPECT_EQ(StateOf(nullptr, host, hung), kUnknown);
  queue.dispatch_block.gos_sent[0] += 100;
  EXPECT_EQ(StateOf(&queue, host, hung), kUnknown);
  queue = stopped.card.queues[0];
  queue.prefetch_block.entries_fetched.value = host.entries_announced + 1;
  EXPECT_EQ(EntriesTaken(queue, host), host.entries_taken);

  stopped.card.queues.clear();
  stopped.card.unreadable = Error(StatusCode::kUnavailable, "no answer");
  const StallReport report = DiagnoseCard(stopped.card, stopped.hosts);
  EXPECT_EQ(report.stage, StalledStage::kUnreadable);
  EXPECT_THAT(report.text, HasSubstr("no answer"));
}

TEST(SnapshotFile, KeepsFaultDamageWaitsAndWhatCouldNotBeRead) {
  StoppedCard stopped = Load("overwritten_dispatcher");
  stopped.card.fault =
      DeviceFault{{3, 4}, 2, 0x5000, 0x5004, "no instruction", "no instruction \xff"};
  stopped.card.unreadable = Error(StatusCode::kUnavailable, "no answer");
  stopped.card.workers[1].waits[3] = {"SEMWAIT sem_sel=2", "semaphore 1 is 0"};
  const std::string text = SnapshotText(stopped);
  const StatusOr<StoppedCard> again = ParseSnapshot(text);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  ASSERT_TRUE(again->card.fault.has_value());
  EXPECT_EQ(again->card.fault->pc, 0x5000u);
  EXPECT_EQ(StatusMessage(again->card.unreadable), "no answer");
  for (size_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(again->card.workers[worker].waits, stopped.card.workers[worker].waits);
  }
  ASSERT_EQ(again->card.damage.size(), 1u);
  EXPECT_EQ(ToString(again->card.damage[0]), ToString(stopped.card.damage[0]));
}

TEST(SnapshotFile, RefusesEverythingElse) {
  const std::string text = Read("trace");
  for (size_t size = 0; size < text.size() - 1; size += 97) {
    EXPECT_EQ(ParseSnapshot(text.substr(0, size)).status().code(), StatusCode::kInvalidArgument);
  }
  std::string other = text;
  other.replace(other.find("\"protocol\":") + 11, 1, "9");
  EXPECT_THAT(std::string(StatusMessage(ParseSnapshot(other).status())),
              HasSubstr("protocol version"));
  EXPECT_EQ(ParseSnapshot("{\"protocol\": []}").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ttfd::diagnosis_test
