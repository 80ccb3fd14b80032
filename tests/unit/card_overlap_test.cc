// Launches placed while others run: what the card is asked, who answers for a hang or fault, and when a time has run
// out.
#include <gmock/gmock.h>

#include <set>

#include "runtime/abi/hart_status.h"
#include "tests/support/core_fixture.h"

namespace ttfd::card_overlap_test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Program 3 on worker (0,0), program 4 on (2,0).
class CardOverlap : public CoreTest {
 protected:
  void Prepare() {
    Start();
    first = Connect();
    second = Connect();
    for (TestClient* client : {first.get(), second.get()}) {
      client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
                   OneKernelProgram(4, 2, {2, 0, 2, 0}), BarrierRequest{}, BarrierRequest{},
                   BarrierRequest{});
      client->OpenQueue(ComputeQueue(1, {{0, 0, 1, 2}}));
      client->OpenQueue(ComputeQueue(2, {{2, 0, 3, 2}}));
      client->OpenQueue(TransferQueue(3));
      client->Run();
    }
    card->log.clear();
  }
  void Wait(int ms) {
    clock.Advance(milliseconds(ms));
    core->RunOnce();
    first->Take();
    second->Take();
  }
  static LaunchRequest Within(LaunchRequest launch, uint32_t timeout_ms) {
    launch.timeout_ms = timeout_ms;
    return launch;
  }

  std::unique_ptr<TestClient> first, second;
};

TEST_F(CardOverlap, TheNextLaunchIsPlacedBeforeTheEventOfTheOneThatRuns) {
  Prepare();
  first->Send(Launch(3), Launch(4), Read(1, 0, 16), Launch(3));
  first->Run();
  EXPECT_THAT(card->log, ElementsAre("launch", "launch", "event", "event", "read 16", "event",
                                     "launch", "event"));
}

TEST_F(CardOverlap, ALaunchThatNothingFollowsHasItsEventAtOnce) {
  Prepare();
  card->hold = true;
  first->Send(Launch(3));
  core->RunOnce();
  EXPECT_THAT(card->log, ElementsAre("launch", "event"));
  first->Send(Launch(3));
  core->RunOnce();
  EXPECT_THAT(card->log, ElementsAre("launch", "event", "launch", "event"));
}

TEST_F(CardOverlap, LaunchesOfTwoSessionsOnTheSameWorkersDoNotAnswerForEachOther) {
  Prepare();
  card->hold = true;
  first->Send(Launch(3));
  second->Send(Launch(3));
  core->RunOnce();
  EXPECT_THAT(card->log, ElementsAre("launch", "event", "launch", "event"));
}

TEST_F(CardOverlap, AHangIsTheLaunchesThatRanNotTheOnePlacedBehindIt) {
  Prepare();
  card->runs_on = [](const LaunchCommand&) { return true; };
  first->Send(Within(Launch(3), 100), Launch(4));
  core->RunOnce();
  Wait(101);
  EXPECT_EQ(first->ErrorOf(8).reason, "HANG");
  EXPECT_EQ(first->ErrorOf(9).cause, (QueuePosition{0, 8}));
}

TEST_F(CardOverlap, TheTimeOfALaunchRunsFromTheEndOfTheOneBefore) {
  Prepare();
  int ended = 0;
  int seen = 0;
  card->runs_on = [&](const LaunchCommand&) { return seen++ >= ended; };
  first->Send(Within(Launch(3), 100), Within(Launch(3), 100));
  const auto round = [&](int ms) {
    seen = 0;
    Wait(ms);
  };
  round(0);
  round(90);
  ended = 1;
  round(0);
  ended = 0;
  round(90);
  EXPECT_EQ(first->Progress(), 8u);
  EXPECT_THAT(first->errors, IsEmpty());
  round(20);
  EXPECT_EQ(first->ErrorOf(9).reason, "HANG");
}

TEST_F(CardOverlap, AFaultIsOfTheLaunchWhoseProgramTheWorkerNames) {
  Prepare();
  card->hold = true;
  first->SendOn(1, {}, Launch(3));
  second->SendOn(2, {}, Launch(4));
  core->RunOnce();
  // Each session has made two programs.
  card->state = [](const Ticket&) { return ExecutionState::kRunning; };
  card->stall.stage = StalledStage::kFault;
  card->stall.text = "a kernel faulted";
  HartReport faulted;
  faulted.where = "worker (2,0) BRISC";
  faulted.state = abi::kHartFaulted;
  faulted.waypoint = "KRUN";
  faulted.pc = 0x100;
  faulted.text = "stopped on a fault";
  faulted.worker = 2;
  faulted.program = 4;
  card->stall.harts = {faulted};
  card->next_poll = Error(StatusCode::kFailedPrecondition, "a worker stopped");
  core->RunOnce();
  first->Take();
  second->Take();
  EXPECT_EQ(second->ErrorOf(1, 2).reason, "DEVICE_FAULT");
  EXPECT_THAT(second->ErrorOf(1, 2).message, HasSubstr("a kernel faulted"));
  EXPECT_EQ(first->ErrorOf(1, 1).reason, "DEVICE_RESET");
}

TEST_F(CardOverlap, AHangTellsWhichStageStopped) {
  Prepare();
  card->hold = true;
  card->stall.stage = StalledStage::kWorkers;
  card->stall.text = "workers: 1 of 12 have not ended";
  first->Send(Within(Launch(3), 100));
  core->RunOnce();
  Wait(101);
  EXPECT_THAT(first->ErrorOf(8).message, HasSubstr("workers: 1 of 12 have not ended"));
  EXPECT_THAT(core->admin().GetStatus().devices[0].last_error,
              HasSubstr("workers: 1 of 12 have not ended"));
}

TEST_F(CardOverlap, TheQueueWhoseTimeIsUpPaysTheOtherRunsAgain) {
  Prepare();
  card->hold = true;
  first->Send(Within(Launch(3), 100));
  second->SendOn(3, {}, Read(1, 0, 16));
  core->RunOnce();
  Wait(101);
  EXPECT_EQ(first->ErrorOf(8).reason, "HANG");
  card->hold = false;
  second->Run();
  EXPECT_TRUE(second->errors.empty()) << "it runs again";
  EXPECT_EQ(second->Progress(3), 1u);
}

// ---- kernels on workers of their own

// The programs of two sessions on workers of their own: queue 1 of the first, queue 2 of the second.
class CardIndependent : public CardOverlap {
 protected:
  void Prepare() {
    CardOverlap::Prepare();
    card->runs_on = [this](const LaunchCommand& launch) {
      return running.contains(launch.program->tiles.test(0) ? 1 : 2);
    };
  }
  // Launches of the first session are known to take seconds.
  void LearnThatTheFirstTakesLong() {
    for (int i = 0; i < 4; ++i) {
      running = {1};
      first->SendOn(1, {}, Within(Launch(3), 60'000));
      RunSome();
      clock.Advance(std::chrono::seconds(5));
      running = {};
      first->Run();
    }
  }
  void RunSome() {
    for (int i = 0; i < 40; ++i) core->RunOnce();
    first->Take();
    second->Take();
  }
  uint64_t DeviceNs(TestClient* client) {
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == client->session().welcome().session) return info.device_ns;
    }
    return 0;
  }

  std::set<uint32_t> running;  // queues whose kernels do not end
};

TEST_F(CardIndependent, ALongOneHoldsUpNobodyWhoNeedsOtherWorkers) {
  Prepare();
  LearnThatTheFirstTakesLong();
  running = {1};
  first->SendOn(1, {}, Within(Launch(3), 60'000), Within(Launch(3), 60'000));
  RunSome();
  second->SendOn(2, {}, InlineWrite(1, 0, Pattern(64)), Launch(4), Read(1, 0, 64), Launch(4));
  RunSome();
  EXPECT_EQ(second->Progress(2), 4u);
  EXPECT_EQ(second->Data(3, 2), Pattern(64));
  EXPECT_EQ(first->Progress(1), 4u) << "it still runs";
  running = {};
  first->Run();
  EXPECT_EQ(first->Progress(1), 6u);
}

TEST_F(CardIndependent, WhatNeedsTheirWorkersIsNotOvertakenForEver) {
  Prepare();
  LearnThatTheFirstTakesLong();
  running = {1};
  first->SendOn(1, {}, Within(Launch(3), 60'000), Within(Launch(3), 60'000));
  RunSome();
  second->Send(Read(1, 0, 64));  // of a queue of all workers
  RunSome();
  EXPECT_EQ(second->Progress(), 7u) << "the card would stand still behind it";
  second->SendOn(2, {}, Read(1, 0, 16), Read(1, 0, 16));
  RunSome();
  EXPECT_LE(second->Progress(2), 1u)
      << "nobody goes before it who needs a worker that it waits for";
  running = {};
  second->Run();
  EXPECT_EQ(second->Progress(), 8u);
  EXPECT_EQ(second->Progress(2), 2u);
}

TEST_F(CardIndependent, EachIsDoneWhenItsOwnWorkersAre) {
  Prepare();
  running = {1, 2};
  first->SendOn(1, {}, Within(Launch(3), 100));
  second->SendOn(2, {}, Within(Launch(4), 10'000));
  core->RunOnce();
  running = {2};
  RunSome();
  EXPECT_EQ(first->Progress(1), 1u);
  clock.Advance(milliseconds(101));
  RunSome();
  EXPECT_THAT(second->errors, IsEmpty()) << "its own time is not up";
  EXPECT_EQ(card->boots, 1);
  // The other way round, and again and again on the same workers.
  running = {2};
  for (uint64_t i = 0; i < 100; ++i) {
    first->SendOn(1, {}, Within(Launch(3), 100));
    clock.Advance(milliseconds(10));
    RunSome();
    ASSERT_EQ(first->Progress(1), 2 + i);
  }
  running = {};
  second->Run();
  EXPECT_EQ(second->Progress(2), 1u);
}

TEST_F(CardIndependent, TheOneWhoseTimeIsUpIsToBlameNotTheOneBesideIt) {
  Prepare();
  running = {1, 2};
  first->SendOn(1, {}, Within(Launch(3), 10'000));
  second->SendOn(2, {}, Within(Launch(4), 100));
  core->RunOnce();
  Wait(60);
  EXPECT_THAT(second->errors, IsEmpty());
  Wait(60);
  EXPECT_EQ(second->ErrorOf(1, 2).reason, "HANG");
  EXPECT_EQ(first->ErrorOf(1, 1).reason, "DEVICE_RESET");
}

TEST_F(CardIndependent, ManyShortOnesDoNotGiveALongOneMoreTime) {
  Prepare();
  running = {1};
  first->SendOn(1, {}, Within(Launch(3), 500));
  for (int i = 0; i < 60; ++i) {
    second->SendOn(2, {}, Launch(4));
    Wait(10);
  }
  EXPECT_EQ(first->ErrorOf(1, 1).reason, "HANG");
}

TEST_F(CardIndependent, AnEndThatTheCardDoesNotReportIsNotTheKernelsFault) {
  Prepare();
  bool late = true;
  card->late_completions = [&late](uint32_t) { return late; };
  card->state = [](const Ticket&) { return ExecutionState::kCompleted; };
  first->SendOn(1, {}, Within(Launch(3), 100));
  RunSome();
  Wait(90);
  EXPECT_EQ(card->boots, 1);
  Wait(90);
  EXPECT_EQ(card->boots, 2);
  late = false;
  first->Run();
  EXPECT_THAT(first->errors, IsEmpty());
  EXPECT_EQ(first->Progress(1), 1u);
}

TEST_F(CardIndependent, EachPaysForItsOwnTime) {
  Prepare();
  const uint64_t before[] = {DeviceNs(first.get()), DeviceNs(second.get())};
  running = {1, 2};
  first->SendOn(1, {}, Within(Launch(3), 100'000));
  second->SendOn(2, {}, Within(Launch(4), 100'000));
  core->RunOnce();
  clock.Advance(milliseconds(1));
  running = {1};
  RunSome();
  clock.Advance(milliseconds(999));
  running = {};
  first->Run();
  second->Take();
  EXPECT_EQ(DeviceNs(first.get()) - before[0], 1'000'000'000u);
  EXPECT_EQ(DeviceNs(second.get()) - before[1], 1'000'000u);
}

TEST_F(CardIndependent, WhoIsBehindAnotherOnItsWorkersPaysFromItsEnd) {
  Prepare();
  const uint64_t before = DeviceNs(second.get());
  running = {2};
  second->SendOn(2, {}, Within(Launch(4), 1000), Within(Launch(4), 1000));
  core->RunOnce();
  clock.Advance(milliseconds(10));
  running = {};
  second->Run();
  EXPECT_EQ(DeviceNs(second.get()) - before, 10'000'000u) << "both together";
}

// ---- times

TEST_F(CardOverlap, ATransferThatMovesIsGivenMoreTime) {
  Prepare();
  TimeoutsReply timeouts;
  timeouts.operation_ms = 100;
  ASSERT_TRUE(core->admin().SetTimeouts(0, timeouts).ok());
  card->hold = true;
  first->Send(Read(1, 0, 16));
  core->RunOnce();
  card->moves = 3;  // one look in the middle, two at the end
  Wait(51);
  Wait(50);
  Wait(101);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 0u);
  Wait(101);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  EXPECT_THAT(core->admin().GetStatus().devices[0].last_error, HasSubstr("no progress for 100 ms"));
  EXPECT_THAT(first->errors, IsEmpty()) << "it is tried once more";
}

TEST_F(CardOverlap, ALaunchHasItsTimeAndNoMore) {
  Prepare();
  card->hold = true;
  card->moves = 100;
  first->Send(Within(Launch(3), 100));
  core->RunOnce();
  Wait(101);
  EXPECT_EQ(first->ErrorOf(8).reason, "HANG");
}

TEST_F(CardOverlap, WhatTheCardWaitsForOnAnotherQueueCostsNoTime) {
  Prepare();
  TimeoutsReply timeouts;
  timeouts.operation_ms = 50;
  ASSERT_TRUE(core->admin().SetTimeouts(0, timeouts).ok());
  bool ended = false;
  card->runs_on = [&ended](const LaunchCommand&) { return !ended; };
  first->Send(Within(Launch(3), 1000));
  first->SendOn(3, {{0, 8}}, Read(1, 0, 16));
  core->RunOnce();
  for (int i = 0; i < 10; ++i) Wait(60);
  EXPECT_THAT(first->errors, IsEmpty());
  ended = true;
  first->Run();
  EXPECT_EQ(first->Progress(3), 1u);
  EXPECT_EQ(card->boots, 1);
}

TEST_F(CardOverlap, ABootKeepsTheHeartbeatGoing) {
  Prepare();
  const uint64_t before = core->heartbeat();
  int looks = 0;
  card->boot_lasts = [&looks] { return ++looks < 1000; };
  ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
  core->RunOnce();
  EXPECT_GE(core->heartbeat(), before + 999);
}

TEST_F(CardOverlap, TimeoutsReachTheShutdown) {
  Prepare();
  TimeoutsReply timeouts;
  timeouts.operation_ms = 70;
  timeouts.kernel_ms = 700;
  ASSERT_TRUE(core->admin().SetTimeouts(0, timeouts).ok());
  ASSERT_TRUE(core->Stop(clock.Now() + milliseconds(1)).ok());
  EXPECT_EQ(card->shut_down_within.operation, milliseconds(70));
  EXPECT_EQ(card->shut_down_within.kernel, milliseconds(700));
}

}  // namespace
}  // namespace ttfd::card_overlap_test
