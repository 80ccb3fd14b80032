// Hangs and faults: who did it hears so, others send again at worst, the card comes back, nobody's data is lost.
#include <gmock/gmock.h>

#include "daemon/api/status_reason.h"
#include "tests/support/offender_fixture.h"

namespace ttfd::card_recovery_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CardRecovery = OffenderTest;

TEST_F(CardRecovery, ACardIsJudgedWhenNothingCanBeginOnItAnyMore) {
  for (const bool by_an_administrator : {false, true}) {
    Prepare();
    int judged = 0;
    card->state = [&](const Ticket&) {
      ++judged;
      EXPECT_TRUE(card->halted);
      return std::optional<ExecutionState>();
    };
    card->hold = true;
    offender->Send(Launch(3));
    other->Send(Launch(3));
    core->RunOnce();
    EXPECT_FALSE(card->halted);
    card->hold = false;
    if (by_an_administrator) {
      ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
    } else {
      card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
    }
    RunAll();
    EXPECT_GT(judged, 0);
    EXPECT_EQ(card->boots, 2);
    offender.reset();
    other.reset();
  }
}

TEST_F(CardRecovery, AFaultEndsTheLaunchThatRanAndTheCardComesBack) {
  Prepare();
  card->on_launch = [this](const LaunchCommand&) {
    card->on_launch = nullptr;
    return Error(StatusCode::kFailedPrecondition, "unmapped address 0x123 at tile (1,2) BRISC");
  };
  offender->Send(Launch(3), Read(1, 0, 16));
  offender->Run();
  const ErrorReply error = offender->ErrorOf(5);
  EXPECT_EQ(error.code, StatusCode::kAborted);
  EXPECT_EQ(error.reason, "DEVICE_FAULT");
  EXPECT_FALSE(error.retryable);
  EXPECT_THAT(error.message, HasSubstr("unmapped address 0x123"));
  EXPECT_THAT(error.message, HasSubstr("waypoint KRUN, pc 0x10040")) << "where the harts stood";
  EXPECT_EQ(offender->ErrorOf(6).cause, (QueuePosition{0, 5}));
  EXPECT_EQ(card->boots, 2);
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  EXPECT_THAT(core->admin().GetStatus().devices[0].last_error, HasSubstr("unmapped address"));

  other->Send(Read(1, 0, 4096), Launch(3));
  other->Run();
  EXPECT_EQ(other->Data(5), Pattern(4096)) << "memory outlives the reset";
  EXPECT_THAT(other->errors, IsEmpty());
  BatchRequest clear;
  clear.clears_error = 5;
  clear.commands = {Launch(3), Read(1, 0, 4096)};
  offender->SendBatch(clear);
  offender->Run();
  EXPECT_EQ(offender->Data(8), Pattern(4096)) << "the offender may go on, too";
}

TEST_F(CardRecovery, InnocentWorkInFlightRunsAgainAndItsOwnerHearsNothing) {
  Prepare();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) {
    return ++launches == 1 ? Error(StatusCode::kFailedPrecondition, "died") : OkStatus();
  };
  offender->Send(Launch(3));
  other->Send(InlineWrite(1, 0, Pattern(64, 2)), Launch(3), Read(1, 0, 64));
  other->Run();
  offender->Take();
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_FAULT");
  EXPECT_EQ(card->boots, 2);
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_EQ(other->Data(7), Pattern(64, 2));
  EXPECT_EQ(launches, 2) << "of the innocent one exactly once";
}

// The write behind it, on another queue, waits for it; what came between had to be given up.
TEST_F(CardRecovery, WhoWaitsForWhatWasGivenUpBehindWhatRunsAgainGoesOn) {
  Prepare();
  other->OpenQueue(TransferQueue(1));
  other->Run();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  const uint64_t write = other->Send(InlineWrite(1, 1024, Pattern(64, 2)), Read(1, 0, 64));
  const uint64_t later = other->SendOn(1, {{0, write + 1}}, InlineWrite(1, 0, Pattern(64, 3)));
  card->state = [](const Ticket& ticket) {
    return ticket.hardware_queue == 1 ? std::optional(ExecutionState::kUnknown) : std::nullopt;
  };
  core->RunOnce();
  card->hold = false;
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  for (int i = 0; i < 100; ++i) {
    core->RunOnce();
    other->Take();
    offender->Take();
  }
  EXPECT_EQ(offender->ErrorOf(5).reason, "HANG");
  EXPECT_EQ(other->ErrorOf(write + 1).reason, "DEVICE_RESET") << "it cannot be read again";
  EXPECT_EQ(other->Progress(1), later) << "ended, one way or the other";
  EXPECT_FALSE(core->RunOnce()) << "nothing is left";
  offender->OpenQueue(TransferQueue(1));
  offender->SendOn(1, {}, Read(1, 0, 64));
  for (int i = 0; i < 100; ++i) core->RunOnce();
  offender->Take();
  EXPECT_EQ(offender->Progress(1), 1u) << "the hardware queue is free";
}

TEST_F(CardRecovery, ALaunchThatHadBegunDoesNotRunAgainBecauseTheOneBeforeWasNotSeenToEnd) {
  Prepare();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) { return ++launches, OkStatus(); };
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  const uint64_t first = card->submitted(0);
  other->Send(Launch(3));
  core->RunOnce();
  ASSERT_EQ(card->submitted(0), first + 1);
  card->state = [first](const Ticket& ticket) {
    return std::optional(ticket.number <= first ? ExecutionState::kCompleted
                                                : ExecutionState::kRunning);
  };
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  card->hold = false;
  offender->Run();
  other->Run();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(other->ErrorOf(5).reason, "HANG");
  EXPECT_EQ(launches, 0);
}

TEST_F(CardRecovery, WhatEndedBeforeTheFaultEndedWell) {
  Prepare();
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  offender->Send(InlineWrite(1, 0, Pattern(64, 2)), Read(1, 0, 64), Launch(3));
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(5).code, StatusCode::kOk);
  EXPECT_EQ(offender->Data(6), Pattern(64, 2));
  EXPECT_EQ(offender->ErrorOf(7).reason, "DEVICE_FAULT");
}

TEST_F(CardRecovery, WorkThatHadNotStartedIsNotTouched) {
  options.card.window_commands = 1;
  Prepare();
  card->on_launch = [this](const LaunchCommand&) {
    card->on_launch = nullptr;
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  offender->Send(Launch(3));
  other->Send(Launch(3), Read(1, 0, 4096));
  other->Run();
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_EQ(other->Data(6), Pattern(4096));
}

TEST_F(CardRecovery, ALaunchBeyondItsTimeoutIsAHang) {
  Prepare();
  card->hold = true;
  LaunchRequest launch = Launch(3);
  launch.timeout_ms = 100;
  offender->Send(launch);
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(99));
  core->RunOnce();
  offender->Take();
  EXPECT_THAT(offender->errors, IsEmpty());
  clock.Advance(std::chrono::milliseconds(2));
  core->RunOnce();
  offender->Take();
  EXPECT_EQ(offender->ErrorOf(5).code, StatusCode::kAborted);
  EXPECT_EQ(offender->ErrorOf(5).reason, "HANG");
  EXPECT_THAT(offender->ErrorOf(5).message, HasSubstr("100 ms"));
  EXPECT_EQ(card->boots, 2);
}

TEST_F(CardRecovery, WhileTheCardsClockStandsStillNothingHangs) {
  StoppableClock card_clock(clock);
  options.thread.device_clock = &card_clock;
  Prepare();
  card->hold = true;
  LaunchRequest launch = Launch(3);
  launch.timeout_ms = 100;
  offender->Send(launch);
  other->Send(InlineWrite(1, 0, Pattern(64, 2)));
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(60));
  card_clock.Stop();
  for (int i = 0; i < 10; ++i) {
    clock.Advance(std::chrono::seconds(3));
    core->RunOnce();
  }
  offender->Take();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(card->boots, 1);
  // What had passed before counts.
  card_clock.Go();
  clock.Advance(std::chrono::milliseconds(50));
  core->RunOnce();
  offender->Take();
  EXPECT_EQ(offender->ErrorOf(5).reason, "HANG");
}

TEST_F(CardRecovery, WhoSharesTheDeviceThreadIsAttendedToWhenItIsIdle) {
  int asked = 0;
  bool at_work = false;
  options.thread.serve_debugger = [&] {
    ++asked;
    return at_work;
  };
  Prepare();
  asked = 0;
  at_work = true;
  EXPECT_TRUE(core->RunOnce()) << "it must not sleep";
  at_work = false;
  EXPECT_FALSE(core->RunOnce());
  EXPECT_EQ(asked, 2);
  card->hold = true;
  offender->Send(Launch(3));
  asked = 0;
  EXPECT_TRUE(core->RunOnce());
  EXPECT_EQ(asked, 0) << "the card is polled anyway";
}

TEST_F(CardRecovery, TheDeviceMayKnowAHangAtOnce) {
  Prepare();
  offender->Send(Launch(3));
  card->next_poll =
      Error(StatusCode::kDeadlineExceeded, "nothing can move any more: event 7 is due");
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(5).reason, "HANG");
}

TEST_F(CardRecovery, ManyLaunchesMayTakeLongerThanTheTimeoutOfOne) {
  Prepare();
  card->clock = &clock;
  card->cost = [](const Command&) { return Duration(std::chrono::milliseconds(80)); };
  for (int i = 0; i < 20; ++i) {
    LaunchRequest launch = Launch(3);
    launch.timeout_ms = 100;
    offender->Send(launch);
  }
  card->completes_per_poll = 1;
  offender->Run();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(card->boots, 1);
}

TEST_F(CardRecovery, ATransferWithoutProgressIsAHangOfNobodysAndTriedOnceMore) {
  Prepare();
  card->hold = true;
  offender->Send(Read(1, 0, 16));
  for (int i = 0; i < 2; ++i) {
    core->RunOnce();
    offender->Take();
    EXPECT_THAT(offender->errors, IsEmpty());
    clock.Advance(std::chrono::milliseconds(options.timeouts.operation_ms + 1));
    core->RunOnce();
  }
  offender->Take();
  EXPECT_EQ(card->boots, 3);
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_RESET");
  EXPECT_TRUE(offender->ErrorOf(5).retryable);
  EXPECT_THAT(offender->ErrorOf(5).message, HasSubstr("operation timeout"));
}

// As a queue looks whose event word was written over. What comes later on the other queue is not what it waits for.
TEST_F(CardRecovery, AWaitForAnotherQueueThatHasNothingOlderIsAHang) {
  Prepare();
  other->OpenQueue(TransferQueue(1));
  other->Run();
  card->hold = true;
  card->waits_for_queue = [](uint32_t queue) { return queue == 0; };
  offender->Send(Read(1, 0, 16));
  core->RunOnce();
  other->SendOn(1, {}, Read(1, 0, 16));
  for (int i = 0; i < 4 && offender->errors.empty(); ++i) {
    core->RunOnce();
    clock.Advance(std::chrono::milliseconds(options.timeouts.operation_ms + 1));
    core->RunOnce();
    offender->Take();
  }
  EXPECT_GE(card->boots, 2);
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_RESET");
}

TEST_F(CardRecovery, AWaitForAnotherQueueLastsAsLongAsWhatWasThereBefore) {
  Prepare();
  other->OpenQueue(TransferQueue(1));
  other->Run();
  card->hold = true;
  card->waits_for_queue = [](uint32_t queue) { return queue == 1; };
  offender->Send(Launch(3));
  core->RunOnce();
  other->SendOn(1, {}, Read(1, 0, 16));
  for (int i = 0; i < 4; ++i) {
    core->RunOnce();
    clock.Advance(std::chrono::milliseconds(options.timeouts.operation_ms + 1));
    core->RunOnce();
    EXPECT_EQ(card->boots, 1) << "the launch has its time, a minute";
  }
  card->waits_for_queue = nullptr;
  clock.Advance(std::chrono::milliseconds(options.timeouts.operation_ms + 1));
  core->RunOnce();
  EXPECT_EQ(card->boots, 1) << "the read may have begun only just now";
  card->hold = false;
  offender->Run();
  other->Run();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_THAT(other->errors, IsEmpty());
}

TEST_F(CardRecovery, WhatTheCardDoesNotTakeIsTriedOnceMore) {
  Prepare();
  for (const StatusCode code : {StatusCode::kInternal, StatusCode::kDeadlineExceeded}) {
    const int boots = card->boots;
    card->on_submit = [code](const Command& command) {
      const auto* read = std::get_if<ReadCommand>(&command);
      return read != nullptr && read->size == 48 ? Error(code, "no") : OkStatus();
    };
    const uint64_t refused = offender->Send(Read(1, 0, 48));
    other->Send(Launch(3), Read(1, 0, 4096));
    for (int i = 0; i < 100; ++i) core->RunOnce();
    offender->Take();
    other->Take();
    EXPECT_EQ(card->boots, boots + 2);
    EXPECT_EQ(offender->ErrorOf(refused).reason, "DEVICE_RESET");
    EXPECT_THAT(other->errors, IsEmpty());
    BatchRequest clear;
    clear.clears_error = refused;
    clear.commands = {Read(1, 0, 16)};
    offender->SendBatch(clear);
    offender->Run();
    EXPECT_EQ(offender->Progress(), refused + 1);
  }
}

TEST_F(CardRecovery, WhatIsSuspectedTwiceIsGivenUpWhateverWasOverwritten) {
  Prepare();
  const uint64_t read = offender->Send(Read(1, 0, 16));
  card->state = [](const Ticket&) { return ExecutionState::kNotStarted; };
  card->stall.damage.emplace_back();
  for (int i = 0; i < 100; ++i) {
    card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
    core->RunOnce();
  }
  offender->Take();
  EXPECT_EQ(card->boots, 1 + 2);
  EXPECT_EQ(offender->ErrorOf(read).reason, "DEVICE_RESET");
  EXPECT_TRUE(offender->ErrorOf(read).retryable);
  card->next_poll = OkStatus();
  other->Send(Launch(3), Read(1, 0, 4096));
  other->Run();
  EXPECT_THAT(other->errors, IsEmpty()) << "the card is there";
}

TEST_F(CardRecovery, TimeoutsCanBeChangedWhileRunning) {
  Prepare();
  TimeoutsReply timeouts;
  timeouts.operation_ms = 50;
  ASSERT_TRUE(core->admin().SetTimeouts(0, timeouts).ok());
  timeouts = {};
  timeouts.kernel_ms = 30;
  ASSERT_TRUE(core->admin().SetTimeouts(offender->id(), timeouts).ok());
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(31));
  core->RunOnce();
  offender->Take();
  EXPECT_EQ(offender->ErrorOf(5).reason, "HANG");
  other->Send(Read(1, 0, 16));
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(51));
  core->RunOnce();
  EXPECT_EQ(card->boots, 3);
  EXPECT_THAT(core->admin().GetStatus().devices[0].last_error,
              HasSubstr("for 50 ms (operation timeout)"));
  card->hold = false;
  other->Run();
  EXPECT_THAT(other->errors, IsEmpty()) << "a read can be done again";
}

TEST_F(CardRecovery, ASessionMayHaveAnOperationTimeoutOfItsOwn) {
  Prepare();
  TimeoutsReply timeouts;
  timeouts.operation_ms = 20;
  ASSERT_TRUE(core->admin().SetTimeouts(offender->id(), timeouts).ok());
  card->hold = true;
  other->Send(Read(1, 0, 16));
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(21));
  core->RunOnce();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 0u)
      << "another's transfer has the daemon's time";
  card->hold = false;
  other->Run();
  card->hold = true;
  offender->Send(Read(1, 0, 16));
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(21));
  core->RunOnce();
  offender->Take();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  EXPECT_THAT(core->admin().GetStatus().devices[0].last_error,
              HasSubstr("20 ms (operation timeout)"));
  EXPECT_TRUE(offender->errors.empty()) << "it is tried once more";
}

TEST_F(CardRecovery, ALaunchHasTheCardToItself) {
  Prepare();
  offender->Send(InlineWrite(1, 0, Pattern(64)), InlineWrite(1, 64, Pattern(64)), Launch(3),
                 Read(1, 0, 16));
  offender->Run();
  EXPECT_THAT(card->log,
              ElementsAre("write 64", "write 64", "event", "launch", "event", "read 16", "event"));
}

TEST_F(CardRecovery, ABootThatFailsIsTriedAgain) {
  Prepare();
  card->failing_boots = 1;
  offender->Send(Launch(3));
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  offender->Run();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_EQ(card->boots, 3);
}

TEST_F(CardRecovery, ACardThatDoesNotComeBackEndsEverySession) {
  Prepare();
  card->failing_boots = 2;
  offender->Send(Launch(3));
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  core->RunOnce();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kFailed);
  for (TestClient* client : clients()) {
    Status status;
    ASSERT_TRUE(client->Ended(&status));
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(std::string(StatusMessage(status)),
                HasSubstr("prefetch (16,2) BRISC is not ready"));
  }
  TestClient late(*core);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  EXPECT_EQ(late.Open(hello).code(), StatusCode::kUnavailable);
  RunAll();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);

  // An administrator may try again.
  Status reset = Internal("not heard of");
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&reset](const Status& status) { reset = status; }).ok());
  RunAll();
  EXPECT_TRUE(reset.ok()) << reset.ToString();
  auto client = Connect();
  client->Send(Allocate(1, 1024), Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->Progress(), 2u);
}

TEST_F(CardRecovery, AnAdministratorsResetCostsWhatIsInFlightARetry) {
  Prepare();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  bool done = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  card->hold = false;
  RunAll();
  offender->Take();
  EXPECT_TRUE(done);
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_RESET");
  EXPECT_EQ(card->boots, 2);
}

TEST_F(CardRecovery, FullRingsOnlySlowDown) {
  Prepare();
  card->room = 2;
  for (int i = 0; i < 50; ++i) offender->Send(InlineWrite(1, 0, Pattern(64)), Launch(3));
  offender->Run();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(offender->Progress(), 104u);
}

// A card that another process resets or removes.
class CardLost : public CardRecovery {
 protected:
  void SetUp() override {
    Prepare();
    core->RunOnce();
  }
  void ExpectLost() {
    EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kFailed);
    for (TestClient* client : clients()) {
      Status status;
      ASSERT_TRUE(client->Ended(&status));
      EXPECT_EQ(status.code(), StatusCode::kUnavailable);
      EXPECT_EQ(PayloadOf(status, kReasonPayload), "DEVICE_RESET");
      EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("all ones"));
    }
    EXPECT_FALSE(card->halted) << "there is nothing to look at";
    EXPECT_EQ(card->boots, 1) << "there is nothing to boot";
  }
  void AwaitLook() {
    clock.Advance(std::chrono::seconds(1));
    RunAll();
  }
  void Remove() { card->presence = Error(StatusCode::kUnavailable, "its registers read all ones"); }
};

TEST_F(CardLost, EndsItsSessionsAndServesNewOnesWhenItIsBack) {
  card->hold = true;
  other->Send(Launch(3));
  core->RunOnce();
  Remove();
  card->next_poll = Error(StatusCode::kUnavailable, "a window was withdrawn");
  core->RunOnce();
  card->hold = false;
  ExpectLost();
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  TestClient early(*core);
  EXPECT_EQ(PayloadOf(early.Open(hello), kReasonPayload), "DEVICE_RESET");
  AwaitLook();
  AwaitLook();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kFailed);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 0u);

  card->on_boot = [this] { card->presence = OkStatus(); };
  card->failing_boots = 1;  // and is tried again, as after any reset
  AwaitLook();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  const auto next = Connect();
  next->Send(Allocate(1, 4096), Read(1, 0, 16));
  next->Run();
  EXPECT_THAT(next->errors, IsEmpty());
}

TEST_F(CardLost, IsNoticedWhileTheCardIsIdle) {
  Remove();
  RunAll();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady) << "looked at once a second";
  AwaitLook();
  ExpectLost();
}

TEST_F(CardRecovery, ACardThatLosesItsMemoryWithAResetTakesTheSessionsWithIt) {
  behaviour.memory_survives_reset = false;
  Prepare();
  card->on_launch = [this](const LaunchCommand&) {
    card->on_launch = nullptr;
    return Error(StatusCode::kFailedPrecondition, "unmapped address");
  };
  offender->Send(Launch(3));
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_FAULT") << "the offender receives the fault";
  for (TestClient* client : clients()) {
    Status status;
    ASSERT_TRUE(client->Ended(&status));
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(status.ToString(), HasSubstr("lost its memory"));
  }
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  const auto next = Connect();
  next->Send(Allocate(1, 4096), Read(1, 0, 16));
  next->Run();
  EXPECT_THAT(next->errors, IsEmpty());
}

}  // namespace
}  // namespace ttfd::card_recovery_test
