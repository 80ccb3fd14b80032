// Traces: recorded in one command or several, replayed with patches, freed while replays are in flight, and what of it
// is refused.
#include <gmock/gmock.h>

#include "runtime/command/command.h"
#include "runtime/command/program_layout.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_trace_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr uint64_t kTrace = 20;

LaunchRequest LaunchWords(uint64_t program, std::vector<uint32_t> words) {
  LaunchRequest launch = Launch(program);
  launch.arguments.push_back({0, std::move(words), {}, 0, {}});
  return launch;
}

RecordTraceRequest Record(uint64_t handle, std::vector<LaunchRequest> launches, bool more = false) {
  return {handle, std::move(launches), more};
}

ReplayTraceRequest Replay(uint64_t handle, std::vector<TracePatchRequest> patches = {}) {
  return {handle, std::move(patches)};
}

// Buffer 1; program 3 on worker (0,0), program 4 on (2,0) and (3,0); queue 1 is a transfer queue, queue 2 has workers
// (0,0) to (1,2).
class SessionTrace : public CoreTest {
 protected:
  void Prepare() {
    Start();
    client = Connect();
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
                 OneKernelProgram(4, 2, {2, 0, 3, 0}), BarrierRequest{}, BarrierRequest{});
    client->OpenQueue(TransferQueue(1));
    client->OpenQueue(ComputeQueue(2, {{0, 0, 1, 2}}));
    client->Run();
    ASSERT_THAT(client->errors, IsEmpty());
    card->log.clear();
  }
  // Each of its launches takes so long on the card, and everything else no time.
  void Take(Duration time) {
    card->clock = &clock;
    card->cost = [time](const Command& command) {
      const auto* replay = std::get_if<ReplayTraceCommand>(&command);
      if (replay != nullptr) {
        const SegmentExtent extent = TraceSegmentExtent(*replay->trace, replay->segment);
        return time * (extent.end - extent.begin);
      }
      return std::holds_alternative<LaunchCommand>(command) ? time : Duration();
    };
  }
  // Sends one command on a clear queue, expects it to be refused before anything reaches the card.
  ErrorReply Refused(Request request, uint32_t queue = 0) {
    card->log.clear();
    BatchRequest batch;
    batch.queue = queue;
    batch.clears_error = last_[queue];
    batch.commands.push_back(std::move(request));
    last_[queue] = client->SendBatch(std::move(batch));
    client->Run();
    EXPECT_THAT(card->log, IsEmpty());
    return client->ErrorOf(last_[queue], queue);
  }

  std::unique_ptr<TestClient> client;
  std::map<uint32_t, uint64_t> last_;
};

TEST_F(SessionTrace, IsRecordedOnceAndReplayedManyTimes) {
  Prepare();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) {
    ++launches;
    return OkStatus();
  };
  client->Send(Record(kTrace, {Launch(3), Launch(4), Launch(3)}), Replay(kTrace), Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->ErrorOf(7).message, "");
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_THAT(card->log, ElementsAre("record 2", "record 1", "event", "replay 2", "event",
                                     "replay 1", "event", "replay 2", "event", "replay 1", "event"))
      << "a launch is expected to take half of what a segment may";
  EXPECT_EQ(launches, 6);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 6u)
      << "a replay counts as its launches";
}

TEST_F(SessionTrace, IsCutByTheTimeThatItsProgramsTook) {
  options.card.window = options.card.overlap = std::chrono::microseconds(500);
  Prepare();
  Take(std::chrono::microseconds(100));
  client->Send(Launch(3), BarrierRequest{});
  client->Run();
  card->log.clear();
  client->Send(Record(kTrace, std::vector<LaunchRequest>(12, Launch(3))));
  client->Run();
  EXPECT_THAT(card->log, ElementsAre("record 5", "record 5", "record 2", "event"));
}

TEST_F(SessionTrace, PatchesGoToTheSegmentsOfTheirLaunches) {
  Prepare();
  client->Send(Record(kTrace, std::vector<LaunchRequest>(5, LaunchWords(3, {1}))));
  std::vector<std::pair<uint32_t, uint32_t>> patches;  // segment, first word
  card->on_submit = [&patches](const Command& command) {
    const auto* replay = std::get_if<ReplayTraceCommand>(&command);
    if (replay == nullptr) return OkStatus();
    const SegmentExtent extent = TraceSegmentExtent(*replay->trace, replay->segment);
    for (const TracePatch& patch : replay->patches) {
      EXPECT_GE(patch.launch, extent.begin);
      EXPECT_LT(patch.launch, extent.end);
      patches.emplace_back(replay->segment, patch.arguments.common[0]);
    }
    return OkStatus();
  };
  client->Send(Replay(
      kTrace, {{4, {0, {7}, {}, 0, {}}}, {1, {0, {8}, {}, 0, {}}}, {1, {0, {9}, {}, 0, {}}}}));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_THAT(patches, ElementsAre(std::pair(0u, 8u), std::pair(0u, 9u), std::pair(2u, 7u)))
      << "of one word the later one counts";
}

// Programs that turn out to be slower than they were make shorter segments the next time.
TEST_F(SessionTrace, ReplaysTellHowLongItsProgramsTake) {
  options.card.window = options.card.overlap = std::chrono::microseconds(500);
  Prepare();
  Take(std::chrono::microseconds(50));
  client->Send(Launch(3), Record(kTrace, std::vector<LaunchRequest>(10, Launch(3))));
  client->Run();
  Take(std::chrono::microseconds(400));
  card->completes_per_poll = 1;  // so that each is measured
  for (int i = 0; i < 12; ++i) client->Send(Replay(kTrace));
  client->Run();
  card->log.clear();
  client->Send(Record(kTrace + 1, std::vector<LaunchRequest>(2, Launch(3))));
  client->Run();
  EXPECT_THAT(card->log, ElementsAre("record 1", "record 1", "event"));
}

// Two queues of one kind replay one trace: one replay after the other, or their patches would mix.
TEST_F(SessionTrace, ReplaysOfTwoQueuesDoNotMix) {
  Prepare();
  client->OpenQueue(ComputeQueue(5));
  client->Send(Record(kTrace, std::vector<LaunchRequest>(20, Launch(3))));
  client->Run();
  std::vector<uint32_t> segments;
  card->on_submit = [&segments](const Command& command) {
    const auto* replay = std::get_if<ReplayTraceCommand>(&command);
    if (replay != nullptr) segments.push_back(replay->segment);
    return OkStatus();
  };
  card->completes_per_poll = 1;
  client->Send(Replay(kTrace));
  client->SendOn(5, {}, Replay(kTrace));
  client->Send(Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->Progress(), 9u);
  EXPECT_EQ(client->Progress(5), 1u);
  ASSERT_EQ(segments.size(), 30u);
  for (uint32_t i = 0; i < 30; ++i) EXPECT_EQ(segments[i], i % 10);
}

// A replay holds the card no longer than two of its segments, however many launches it has.
TEST_F(SessionTrace, OthersRunBetweenItsSegments) {
  Prepare();
  Take(std::chrono::microseconds(250));
  const auto other = Connect();
  other->Send(InlineKernel(2), OneKernelProgram(3, 2));
  client->Send(Record(kTrace, std::vector<LaunchRequest>(400, Launch(3))));
  RunAll();
  card->completes_per_poll = 1;
  client->Send(Replay(kTrace));
  for (int i = 0; i < 20; ++i) core->RunOnce();
  const TimePoint sent = clock.Now();
  const uint64_t value = other->Send(Launch(3));
  while (other->Progress() < value) {
    core->RunOnce();
    other->Take();
    ASSERT_LT(clock.Now() - sent, std::chrono::milliseconds(3)) << "quantum + 2 ms";
  }
  client->Take();
  EXPECT_LT(client->Progress(), 8u) << "the replay goes on";
  client->Run();
  EXPECT_EQ(client->Progress(), 8u);
  EXPECT_THAT(client->errors, IsEmpty());
}

TEST_F(SessionTrace, WhatIsLeftOfAReplayEndsWithItsSession) {
  Prepare();
  Take(std::chrono::microseconds(250));
  client->Send(Record(kTrace, std::vector<LaunchRequest>(400, Launch(3))));
  client->Run();
  card->completes_per_poll = 1;
  client->Send(Replay(kTrace));
  for (int i = 0; i < 10; ++i) core->RunOnce();
  client.reset();
  card->completes_per_poll = ~size_t{0};
  RunAll();
  EXPECT_LT(core->admin().GetStatus().devices[0].stats.launches, 40u);
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

TEST_F(SessionTrace, AStartedReplayCompletesThoughItIsCancelled) {
  Prepare();
  client->Send(Record(kTrace, std::vector<LaunchRequest>(40, Launch(3))));
  client->Run();
  card->completes_per_poll = 1;
  const uint64_t value = client->Send(Replay(kTrace), Replay(kTrace));
  for (int i = 0; i < 4; ++i) core->RunOnce();
  ASSERT_TRUE(client->Cancel({0, value}).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(value + 1).code, StatusCode::kCancelled);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 40u);
}

// The card faults in its third segment: the first two have run, and how far the third one came is not known.
TEST_F(SessionTrace, AReplayThatFailsInTheMiddleMayHaveRun) {
  Prepare();
  client->Send(Record(kTrace, std::vector<LaunchRequest>(8, Launch(3))));
  client->Run();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) {
    return ++launches == 5 ? Error(StatusCode::kFailedPrecondition, "a fault") : OkStatus();
  };
  const uint64_t value = client->Send(Replay(kTrace), Launch(3));
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).reason, "DEVICE_FAULT");
  EXPECT_EQ(client->ErrorOf(value).execution_state, ExecutionState::kUnknown);
  EXPECT_EQ(client->ErrorOf(value + 1).execution_state, ExecutionState::kNotStarted);
  EXPECT_EQ(launches, 5) << "nothing behind it runs";
}

// Another session's launch faults: segments that had not begun run after the reset, and nothing runs twice.
TEST_F(SessionTrace, AReplayGoesOnBehindAResetThatAnotherCaused) {
  Prepare();
  const auto other = Connect();
  other->Send(InlineKernel(2), OneKernelProgram(3, 2, {2, 0, 2, 0}));
  other->OpenQueue(ComputeQueue(5, {{2, 0, 3, 0}}));
  client->SendOn(2, {}, Record(kTrace, std::vector<LaunchRequest>(20, Launch(3))));
  RunAll();
  int launches = 0, faults = 0;
  uint64_t faulty = 0;
  const auto is_faulty = [](const Command& command) {
    const auto* launch = std::get_if<LaunchCommand>(&command);
    return launch != nullptr && launch->program->tiles.test(2);
  };
  card->on_submit = [&](const Command& command) {
    if (is_faulty(command)) faulty = card->submitted(0) + 1;
    return OkStatus();
  };
  card->on_launch = [&](const LaunchCommand& launch) -> Status {
    if (is_faulty(launch) && ++faults == 1) {
      return Error(StatusCode::kFailedPrecondition, "a fault");
    }
    ++launches;
    return OkStatus();
  };
  card->state = [&](const Ticket& ticket) {
    return ticket.number <= faulty ? std::nullopt : std::optional(ExecutionState::kNotStarted);
  };
  card->completes_per_poll = 1;
  client->SendOn(2, {}, Replay(kTrace));
  while (launches < 6) core->RunOnce();
  other->SendOn(5, {}, Launch(3));
  client->Run();
  other->Run();
  EXPECT_EQ(other->ErrorOf(1, 5).reason, "DEVICE_FAULT");
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(2), 2u);
  EXPECT_EQ(launches, 20);
  EXPECT_EQ(card->boots, 2);
}

TEST_F(SessionTrace, GoesOnInTheNextCommandOfItsQueue) {
  Prepare();
  client->Send(Record(kTrace, {Launch(3)}, true));
  client->Run();
  EXPECT_EQ(client->Progress(), 7u);
  EXPECT_THAT(card->log, IsEmpty());
  client->SendOn(1, {}, Read(1, 0, 16));  // another queue is no next command
  client->Send(Record(kTrace, {}, true), Record(kTrace, {Launch(4), Launch(4)}), Replay(kTrace));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_THAT(card->log, IsSupersetOf({"record 2", "record 1"}));
}

TEST_F(SessionTrace, ThatDoesNotGoOnNeverComesToBe) {
  Prepare();
  const uint64_t first = client->Send(Record(kTrace, {Launch(3)}, true), BarrierRequest{});
  client->SendOn(1, {}, Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->ErrorOf(first).code, StatusCode::kOk) << "the first part was all right";
  EXPECT_EQ(client->ErrorOf(first + 1).field, "record_trace.more");
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  BatchRequest again;
  again.clears_error = first + 1;
  again.commands = {Record(kTrace, {Launch(3)}), Replay(kTrace)};
  client->SendBatch(again);
  client->Run();
  EXPECT_EQ(client->Progress(), first + 3);
  EXPECT_THAT(card->log, Contains("replay 1")) << "the handle is free again";
}

TEST_F(SessionTrace, PatchesReplaceArgumentsFromTheNextReplayOn) {
  Prepare();
  ReplayTraceRequest replay = Replay(kTrace, {{1, {0, {7, 8, 9}, {}, 0, {{2, 1, 0}}}}});
  client->Send(Record(kTrace, {LaunchWords(3, {1}), LaunchWords(3, {1, 2, 3})}), replay,
               Replay(kTrace));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  ASSERT_EQ(card->patches.size(), 1u);
  EXPECT_EQ(card->patches[0].launch, 1u);
  EXPECT_THAT(card->patches[0].arguments.common, ElementsAre(7u, 8u, 0u))
      << "the buffer's address is put in";
}

TEST_F(SessionTrace, RunsBesideTransfersOfTheOtherQueue) {
  Prepare();
  bool ended = false;
  card->runs_on = [&ended](const LaunchCommand&) { return !ended; };
  client->Send(Record(kTrace, {Launch(3)}), Replay(kTrace));
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)), Read(1, 0, 64));
  for (int i = 0; i < 10; ++i) core->RunOnce();
  client->Take();
  EXPECT_EQ(client->Data(2, 1), Pattern(64));
  EXPECT_EQ(client->Progress(), 7u);
  ended = true;
  client->Run();
  EXPECT_EQ(client->Progress(), 8u);
}

TEST_F(SessionTrace, FreedWhileReplaysAreInFlightLivesUntilTheyEnd) {
  Prepare();
  const uint64_t before = Memory(MemoryKind::kDram).used_bytes;
  client->Send(Record(kTrace, {Launch(3)}));
  client->Run();
  EXPECT_GT(Memory(MemoryKind::kDram).used_bytes, before);
  card->hold = true;
  client->Send(Replay(kTrace), Replay(kTrace), Free({kTrace}));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  EXPECT_GT(Memory(MemoryKind::kDram).used_bytes, before) << "the card still reads it";
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, before);
}

TEST_F(SessionTrace, HoldsTheMemoryOfWhatItsArgumentsName) {
  Prepare();
  client->Send(Allocate(30, 4096), Allocate(31, 4096));
  client->Run();
  const uint64_t both = Memory(MemoryKind::kDram).used_bytes;
  LaunchRequest launch = LaunchWords(3, {0});
  launch.arguments[0].buffers = {{0, 30, 0}};
  client->Send(Record(kTrace, {launch}));
  client->Run();
  const uint64_t recorded = Memory(MemoryKind::kDram).used_bytes;
  client->Send(Free({30}));
  client->Run();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, recorded) << "a replay would reach it";
  client->Send(Replay(kTrace, {{0, {0, {0}, {}, 0, {{0, 31, 0}}}}}));
  client->Run();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, recorded - 4096)
      << "no replay reaches it any more";
  client->Send(Free({31}), Replay(kTrace));
  client->Run();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, recorded - 4096);
  client->Send(Free({kTrace}));
  client->Run();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, both - 2 * 4096);
  EXPECT_THAT(client->errors, IsEmpty());
}

TEST_F(SessionTrace, IsGivenBackWithItsSession) {
  Prepare();
  client->Send(Record(kTrace, {Launch(3)}), Record(kTrace + 1, {Launch(3)}, true));
  client->Run();
  client.reset();
  RunAll();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

TEST_F(SessionTrace, AReplayOnAnotherQueueWaitsForTheRecording) {
  Prepare();
  client->OpenQueue(ComputeQueue(5));
  client->Send(BarrierRequest{});
  client->Run();
  client->Send(StreamedWrite(1, 0, 64), Record(kTrace, {Launch(3)}));
  client->SendOn(5, {}, Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->Progress(5), 0u);
  ASSERT_TRUE(client->Supply(0, 8, 0, Pattern(64)).ok());
  client->Run();
  EXPECT_EQ(client->Progress(5), 1u);
}

TEST_F(SessionTrace, OfWorkersOfItsOwnRunsThere) {
  Prepare();
  client->SendOn(2, {}, Record(kTrace, {Launch(3)}), Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->Progress(2), 2u);
  EXPECT_EQ(Refused(Replay(kTrace)).field, "replay_trace.trace") << "queue 0 has all workers";
  EXPECT_EQ(Refused(Record(kTrace + 1, {Launch(3), Launch(4)}), 2).field,
            "record_trace.launches[1].program");
}

TEST_F(SessionTrace, ThatTheCardHasNoRoomForIsALimitOfItsClient) {
  Prepare();
  card->on_submit = [](const Command& command) {
    const bool records = std::holds_alternative<RecordTraceCommand>(command);
    return records ? Error(StatusCode::kResourceExhausted, "the caches are full") : OkStatus();
  };
  client->Send(Record(kTrace, {Launch(3)}), Replay(kTrace));
  client->Run();
  EXPECT_EQ(client->ErrorOf(7).code, StatusCode::kResourceExhausted);
  EXPECT_EQ(client->ErrorOf(7).reason, "LIMIT");
  EXPECT_EQ(client->ErrorOf(8).cause, (QueuePosition{0, 7}));
  EXPECT_EQ(card->boots, 1);
}

TEST_F(SessionTrace, AReplayThatHangsIsItsClients) {
  Prepare();
  client->Send(Record(kTrace, {Launch(3), Launch(4)}));
  client->Run();
  card->hold = true;
  TimeoutsReply timeouts;
  timeouts.kernel_ms = 100;
  ASSERT_TRUE(core->admin().SetTimeouts(0, timeouts).ok());
  client->Send(Replay(kTrace));
  core->RunOnce();
  card->moves = 2;
  for (const int ms : {51, 50, 101}) {
    EXPECT_EQ(card->boots, 1);
    clock.Advance(std::chrono::milliseconds(ms));
    core->RunOnce();
  }
  client->Take();
  EXPECT_EQ(client->ErrorOf(8).reason, "HANG");
  EXPECT_THAT(client->ErrorOf(8).message, HasSubstr("2 launches of a trace"));
}

// ---- refused

TEST_F(SessionTrace, RefusesWhatIsNoTrace) {
  Prepare();
  ErrorReply error = Refused(Replay(99));
  EXPECT_EQ(error.code, StatusCode::kNotFound);
  EXPECT_EQ(error.reason, "UNKNOWN_HANDLE");
  EXPECT_EQ(Refused(Replay(3)).field, "replay_trace.trace") << "a program";
  EXPECT_EQ(Refused(Record(3, {Launch(3)})).code, StatusCode::kAlreadyExists);
  EXPECT_EQ(Refused(Record(kTrace, {})).field, "record_trace.launches");
  EXPECT_EQ(Refused(Record(kTrace, {Launch(3), Launch(99)})).field,
            "record_trace.launches[1].program");
  EXPECT_EQ(Refused(Record(kTrace, {LaunchWords(3, std::vector<uint32_t>(1000))})).field,
            "record_trace.launches[0].arguments[0].common");
  EXPECT_EQ(Refused(Record(kTrace, {Launch(3), LaunchWords(3, {})})).field,
            "record_trace.launches[1].arguments[0]");
  LaunchRequest launch = LaunchWords(3, {0});
  launch.arguments[0].buffers = {{0, 98, 0}};
  EXPECT_EQ(Refused(Record(kTrace, {launch})).field,
            "record_trace.launches[0].arguments.buffers.buffer");
  EXPECT_EQ(Refused(Replay(kTrace)).reason, "UNKNOWN_HANDLE") << "none of them came to be";
}

TEST_F(SessionTrace, RefusesAReleasedTrace) {
  Prepare();
  client->Send(Record(kTrace, {Launch(3)}), Free({kTrace}));
  client->Run();
  EXPECT_EQ(Refused(Replay(kTrace)).reason, "UNKNOWN_HANDLE");
  EXPECT_EQ(Refused(Free({kTrace})).reason, "UNKNOWN_HANDLE");
}

TEST_F(SessionTrace, RefusesToUseOrFreeOneThatIsNotFinished) {
  Prepare();
  client->Send(Record(kTrace, {Launch(3)}, true));
  EXPECT_EQ(Refused(Replay(kTrace), 1).field, "replay_trace.trace");
  EXPECT_EQ(Refused(Free({kTrace}), 1).field, "free.handles");
}

TEST_F(SessionTrace, RefusesPatchesThatDoNotFit) {
  Prepare();
  client->Send(Record(kTrace, {LaunchWords(3, {1, 2})}));
  client->Run();
  EXPECT_EQ(Refused(Replay(kTrace, {{1, {0, {1, 2}, {}, 0, {}}}})).field,
            "replay_trace.patches[0].launch");
  EXPECT_EQ(Refused(Replay(kTrace, {{0, {1, {1, 2}, {}, 0, {}}}})).field,
            "replay_trace.patches[0].arguments.kernel");
  EXPECT_EQ(Refused(Replay(kTrace, {{0, {0, {1}, {}, 0, {}}}})).field,
            "replay_trace.patches[0].arguments")
      << "as many words as recorded";
  EXPECT_EQ(Refused(Replay(kTrace, {{0, {}}})).field, "replay_trace.patches[0].arguments");
  EXPECT_EQ(Refused(Replay(kTrace, {{0, {0, {1, 2}, {}, 0, {{5, 1, 0}}}}})).field,
            "replay_trace.patches[0].arguments.buffers.word");
  EXPECT_EQ(Refused(Replay(kTrace, {{0, {0, {1, 2}, {}, 0, {{0, 97, 0}}}}})).field,
            "replay_trace.patches.arguments.buffers.buffer");
}

TEST_F(SessionTrace, TracesHaveALimitOfTheirOwn) {
  options.limits.trace_bytes = 16 << 10;
  Prepare();
  uint64_t handle = kTrace;
  ErrorReply error;
  for (; error.reason.empty(); ++handle) {
    ASSERT_LT(handle, kTrace + 20);
    const uint64_t value = client->Send(Record(handle, {Launch(3)}));
    client->Run();
    error = client->ErrorOf(value);
    if (!error.reason.empty()) last_[0] = value;
  }
  EXPECT_GT(handle, kTrace + 2) << "some fit";
  EXPECT_EQ(error.code, StatusCode::kResourceExhausted);
  EXPECT_EQ(error.limit, "trace_bytes");
  EXPECT_EQ(error.limit_value, 16u << 10);
  BatchRequest batch;
  batch.clears_error = last_[0];
  batch.commands = {Free({kTrace}), Record(kTrace, {Launch(3)})};
  const uint64_t value = client->SendBatch(std::move(batch));
  client->Run();
  EXPECT_EQ(client->ErrorOf(value + 1).code, StatusCode::kOk) << "what is freed counts no more";
}

TEST_F(SessionTrace, ATraceTooLargeIsRefused) {
  Prepare();
  std::vector<LaunchRequest> launches(4096, LaunchWords(4, std::vector<uint32_t>(200)));
  RecordTraceRequest record = Record(kTrace, launches, true);
  client->Send(record);
  const ErrorReply error = Refused(Record(kTrace, launches));
  EXPECT_EQ(error.code, StatusCode::kResourceExhausted);
  EXPECT_EQ(error.reason, "LIMIT");
  EXPECT_EQ(error.limit, "trace_record_bytes");
  EXPECT_EQ(error.field, "record_trace.launches");
}

TEST_F(SessionTrace, MoreLaunchesThanATraceTakesAreRefused) {
  Prepare();
  const ErrorReply error =
      Refused(Record(kTrace, std::vector<LaunchRequest>(kMaxTraceLaunches + 1, Launch(3))));
  EXPECT_EQ(error.code, StatusCode::kResourceExhausted);
  EXPECT_EQ(error.limit, "trace_launches");
}

}  // namespace
}  // namespace ttfd::session_trace_test
