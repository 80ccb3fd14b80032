// What an error costs: its queue, from its value on, with the first cause; cancel, deadlines, and
// how a queue is opened again.
#include <gmock/gmock.h>

#include "daemon/api/status_reason.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_error_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionError : public CoreTest {
 protected:
  void SetUp() override {
    Start();
    client = Connect();
    // Queue 0: values 1 to 4. Queue 1 is open.
    client->OpenQueue(ComputeQueue(1));
    client->Send(Allocate(1, 64 << 10), InlineKernel(2), OneKernelProgram(3, 2), BarrierRequest{});
    client->Run();
    ASSERT_THAT(client->errors, IsEmpty());
    card->log.clear();
  }

  QueuePosition Cause(uint64_t value, uint32_t queue = 0) {
    return client->ErrorOf(value, queue).cause;
  }

  std::unique_ptr<TestClient> client;
};

const QueuePosition kFirst{0, 5};  // the first value that SetUp leaves
const QueuePosition kNone{};

// ---- the first cause

TEST_F(SessionError, WhatFollowsOnTheQueueEndsAbortedUnexecutedWithTheCause) {
  client->Send(Read(99, 0, 16), InlineWrite(1, 0, Pattern(16)), Launch(3), BarrierRequest{});
  client->Send(Launch(3));
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kNotFound);
  EXPECT_EQ(Cause(5), kNone);
  for (uint64_t value = 6; value <= 9; ++value) {
    EXPECT_EQ(client->ErrorOf(value).code, StatusCode::kAborted);
    EXPECT_EQ(client->ErrorOf(value).reason, "CAUSED_BY");
    EXPECT_EQ(Cause(value), kFirst);
  }
  EXPECT_EQ(client->Progress(), 9u) << "they have ended, though not well";
  EXPECT_THAT(card->log, IsEmpty());
}

TEST_F(SessionError, AnErrorIsReportedWhenTheCommandsBeforeItHaveEnded) {
  card->hold = true;
  client->Send(Launch(3), Read(99, 0, 16));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Take();
  EXPECT_THAT(client->errors, IsEmpty());
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(6).code, StatusCode::kNotFound);
}

TEST_F(SessionError, TheEarlierOfTwoErrorsIsTheCause) {
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "tile (1,2) BRISC died");
  };
  client->Send(Launch(3), Read(99, 0, 16), BarrierRequest{});
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).reason, "DEVICE_FAULT");
  EXPECT_EQ(client->ErrorOf(6).reason, "CAUSED_BY") << "it would not have been executed";
  EXPECT_EQ(Cause(7), kFirst);
}

TEST_F(SessionError, OtherQueuesAndSessionsGoOn) {
  auto other = Connect();
  client->Send(Read(99, 0, 16));
  client->SendOn(1, {}, Read(1, 0, 16));
  other->Send(Allocate(1, 1024), Read(1, 0, 16));
  client->Run();
  other->Run();
  EXPECT_EQ(client->Data(1, 1).size(), 16u);
  EXPECT_EQ(other->Data(2).size(), 16u);
}

TEST_F(SessionError, ABatchThatWaitsForAFailedValueEndsWithItsCause) {
  card->hold = true;
  client->Send(Launch(3), Read(99, 0, 16), BarrierRequest{});
  client->SendOn(1, {{0, 7}}, Read(1, 0, 16), BarrierRequest{});
  core->RunOnce();
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  EXPECT_EQ(Cause(1, 1), (QueuePosition{0, 6})) << "the first cause, not the value waited for";
  EXPECT_EQ(Cause(2, 1), (QueuePosition{0, 6}));
}

TEST_F(SessionError, AWaitForAFailedValueFailsAlsoWhenItCameLater) {
  client->Send(Read(99, 0, 16));
  client->Run();
  client->SendOn(1, {{0, 5}}, BarrierRequest{});
  client->Run();
  EXPECT_EQ(Cause(1, 1), kFirst);
  BatchRequest clear;
  clear.clears_error = 5;
  client->SendBatch(clear);
  BatchRequest again;
  again.queue = 1;
  again.clears_error = 1;
  again.waits = {{0, 5}};
  again.commands.push_back(BarrierRequest{});
  client->SendBatch(again);
  client->Run();
  EXPECT_EQ(Cause(2, 1), kFirst) << "clearing an error does not make the command a success";
}

TEST_F(SessionError, AHandleThatNeverCameToBeNamesTheCause) {
  client->Send(Allocate(10, 0));  // 5 fails
  client->SendOn(1, {}, Read(10, 0, 16), BarrierRequest{});
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).field, "allocate.size_bytes");
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  EXPECT_EQ(Cause(1, 1), kFirst);
}

TEST_F(SessionError, AHandleWhoseMakerWasAbortedNamesTheCause) {
  client->Send(Read(99, 0, 16), InlineKernel(11), Allocate(12, 1024));
  client->SendOn(1, {}, OneKernelProgram(13, 11), Launch(13));
  client->Run();
  EXPECT_EQ(Cause(1, 1), kFirst);
  EXPECT_EQ(Cause(2, 1), kFirst);
}

TEST_F(SessionError, AHandleMadeBehindACommandThatFailsLaterIsUnmade) {
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  const uint64_t used = Memory(MemoryKind::kDram).used_bytes;
  client->Send(Launch(3), Allocate(10, 4096));
  client->SendOn(1, {}, Read(10, 0, 16));
  client->Run();
  EXPECT_EQ(Cause(6), kFirst);
  EXPECT_EQ(Cause(1, 1), kFirst);
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, used) << "its memory is given back";
}

// ---- opening queues

TEST_F(SessionError, QueueNotOpened_FailsItsCommands) {
  client->OpenQueue({5, 0, 9, {}});
  client->SendOn(5, {}, BarrierRequest{}, Allocate(10, 64));
  client->SendOn(1, {}, Read(10, 0, 16));
  client->Run();
  EXPECT_EQ(client->ErrorOf(0, 5).field, "open_queue.kind");
  EXPECT_EQ(client->ErrorOf(1, 5).reason, "CAUSED_BY");
  EXPECT_EQ(Cause(1, 5), (QueuePosition{5, 0}));
  EXPECT_THAT(client->ErrorOf(2, 5).message, HasSubstr("queue 5 could not be opened"));
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  EXPECT_EQ(Cause(1, 1), (QueuePosition{5, 0})) << "so does what waits for them";
  EXPECT_EQ(client->Progress(5), 2u);
}

TEST_F(SessionError, QueueNotOpened_IsNotClearedByABatch) {
  client->OpenQueue({5, 0, 9, {}});
  BatchRequest batch;
  batch.queue = 5;
  batch.clears_error = 1;
  batch.commands.push_back(BarrierRequest{});
  client->SendBatch(batch);
  client->Run();
  EXPECT_EQ(client->ErrorOf(1, 5).reason, "CAUSED_BY");
}

TEST_F(SessionError, QueueNotOpened_MayBeOpenedAgain) {
  client->OpenQueue({5, 0, 9, {}});
  client->SendOn(5, {}, Allocate(10, 64), BarrierRequest{});
  client->Run();
  client->OpenQueue(ComputeQueue(5));
  client->SendOn(5, {}, Allocate(10, 64), Read(10, 0, 16));
  client->Run();
  EXPECT_EQ(client->Data(4, 5).size(), 16u) << "the handle of the failed command is free again";
  EXPECT_EQ(client->Progress(5), 4u) << "its values continue";
}

TEST_F(SessionError, OpenQueueTwice_LeavesTheQueue) {
  client->OpenQueue(TransferQueue(1));
  client->SendOn(1, {}, Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->ErrorOf(0, 1).code, StatusCode::kAlreadyExists);
  EXPECT_EQ(client->Data(1, 1).size(), 16u);
}

// A client that opens queues it may not have makes neither errors nor queues without end.
TEST_F(SessionError, QueuesNotOpened_AreLimited) {
  for (int i = 0; i < 1000; ++i) client->OpenQueue({5, 0, 9, {}});
  client->Take();
  EXPECT_THAT(client->errors, SizeIs(1)) << "the newest counts";
  Status status;
  uint32_t number = 100;
  for (; status.ok() && number < 1000; ++number) {
    MessageRequest message;
    message.open_queues.push_back({number, 0, 9, {}});
    status = client->Accept(std::move(message));
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitOf(status)->limit, "queues");
  EXPECT_EQ(number, 100u + 2 * options.limits.queues - 3 + 1);
}

// ---- opening again

TEST_F(SessionError, AClearedQueueGoesOn) {
  client->Send(Allocate(10, 0));
  client->Run();
  BatchRequest batch;
  batch.clears_error = 5;
  batch.commands = {Allocate(10, 1024), Read(10, 0, 1024)};
  client->SendBatch(batch);
  client->Run();
  EXPECT_THAT(client->errors, SizeIs(1)) << "the handle may be made now";
  EXPECT_EQ(client->Data(7).size(), 1024u);
}

TEST_F(SessionError, OnlyTheErrorThatWasSeenIsCleared) {
  client->Send(Read(99, 0, 16), BarrierRequest{});
  client->Run();
  for (const uint64_t wrong : {4u, 100u}) {
    BatchRequest batch;
    batch.clears_error = wrong;
    batch.commands.push_back(BarrierRequest{});
    const uint64_t value = client->SendBatch(batch);
    client->Run();
    EXPECT_EQ(Cause(value), kFirst) << wrong;
  }
}

TEST_F(SessionError, ErrorsOfAFloodedFailedQueueAreToldAsOne) {
  client->Send(Read(99, 0, 16));
  for (int i = 0; i < 1000; ++i) client->Send(BarrierRequest{}, Launch(3));
  client->Run();
  EXPECT_THAT(client->errors, SizeIs(2));
  EXPECT_EQ(client->errors[1].first_value, 6u);
  EXPECT_EQ(client->errors[1].last_value, 2005u);
}

TEST_F(SessionError, SoAreThoseOfSeveralFailedQueuesInTurn) {
  client->Send(Read(99, 0, 16));
  client->SendOn(1, {}, Read(99, 0, 16));
  for (int i = 0; i < 100; ++i) {
    client->Send(BarrierRequest{});
    client->SendOn(1, {}, BarrierRequest{});
  }
  client->Run();
  EXPECT_THAT(client->errors, SizeIs(4)) << "of each its own, and the rest as one";
  EXPECT_EQ(client->Progress(0), 105u);
  EXPECT_EQ(client->Progress(1), 101u);
}

TEST_F(SessionError, AFreeThatWasAbortedFreedNothing) {
  client->Send(Read(99, 0, 16), Free({1}));
  client->Run();
  client->SendOn(1, {}, Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->Data(1, 1).size(), 16u);
}

// ---- cancel

TEST_F(SessionError, CancelEndsWhatHasNotStarted) {
  card->hold = true;
  client->Send(Launch(3));
  core->RunOnce();  // started
  client->Send(Launch(3), Launch(3), BarrierRequest{});
  ASSERT_TRUE(client->Cancel({0, 6}).ok());
  client->Send(Launch(3));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Take();
  EXPECT_THAT(client->errors, IsEmpty()) << "the first runs out";
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kOk);
  for (uint64_t value = 6; value <= 8; ++value) {
    EXPECT_EQ(client->ErrorOf(value).code, StatusCode::kCancelled) << value;
    EXPECT_EQ(client->ErrorOf(value).reason, "CANCELLED");
  }
  EXPECT_EQ(client->ErrorOf(9).code, StatusCode::kAborted)
      << "sent behind the cancelled: the queue has failed";
  EXPECT_EQ(Cause(9), (QueuePosition{0, 6}));
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 1u);
}

TEST_F(SessionError, CancelLetsWhatStartedRunOut) {
  card->hold = true;
  client->Send(Launch(3), Launch(3));
  core->RunOnce();
  ASSERT_TRUE(client->Cancel({0, 1}).ok());
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), 6u);
}

TEST_F(SessionError, CancelCutsARunOfBarriers) {
  card->hold = true;
  client->Send(Launch(3), BarrierRequest{}, BarrierRequest{}, BarrierRequest{});
  core->RunOnce();
  ASSERT_TRUE(client->Cancel({0, 7}).ok());
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(6).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(7).code, StatusCode::kCancelled);
  EXPECT_EQ(client->ErrorOf(8).code, StatusCode::kCancelled);
  EXPECT_EQ(client->Progress(), 8u);
}

TEST_F(SessionError, CancelOfWhatIsDoneOrNotSentDoesNothing) {
  ASSERT_TRUE(client->Cancel({0, 1}).ok());
  ASSERT_TRUE(client->Cancel({0, 1000}).ok());
  client->Send(Launch(3));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
}

TEST_F(SessionError, CancelWaitsForNobody) {
  // Blocked on data that never comes: it has not started.
  client->Send(StreamedWrite(1, 0, 1024));
  ASSERT_TRUE(client->Cancel({0, 5}).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kCancelled);
}

// ---- deadlines

TEST_F(SessionError, ACommandNotStartedInTimeIsDropped) {
  client->Send(StreamedWrite(1, 0, 1024));
  for (int i = 0; i < 3; ++i) core->RunOnce();
  BatchRequest batch;
  batch.start_within_ms = 50;
  batch.waits = {{0, 5}};
  batch.queue = 1;
  batch.commands = {Launch(3), BarrierRequest{}};
  client->SendBatch(batch);
  clock.Advance(std::chrono::milliseconds(49));
  core->RunOnce();
  client->Take();
  EXPECT_THAT(client->errors, IsEmpty());
  clock.Advance(std::chrono::milliseconds(2));
  core->RunOnce();
  client->Take();
  EXPECT_EQ(client->ErrorOf(1, 1).code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "DEADLINE");
  EXPECT_EQ(Cause(2, 1), (QueuePosition{1, 1}));
  ASSERT_TRUE(client->Supply(0, 5, 0, Pattern(1024)).ok());
  client->Run();
  EXPECT_EQ(client->Progress(), 5u);
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kOk);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 0u);
}

TEST_F(SessionError, AWorkThatReachesTheDeviceTooLateIsRefusedThere) {
  BatchRequest batch;
  batch.start_within_ms = 10;
  batch.commands.push_back(Launch(3));
  client->SendBatch(batch);  // in the engine's inbox
  clock.Advance(std::chrono::milliseconds(11));
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kDeadlineExceeded);
  EXPECT_THAT(card->log, IsEmpty());
}

// Before a timer sees it: the time is over between two commands that the card is given.
TEST_F(SessionError, AWorkWhoseDeadlinePassesWhileTheCardIsGivenTheOneBeforeDoesNotStart) {
  card->on_submit = [this](const Command&) {
    clock.Advance(std::chrono::milliseconds(11));
    return OkStatus();
  };
  BatchRequest batch;
  batch.start_within_ms = 10;
  batch.commands = {Launch(3), Launch(3)};
  const uint64_t first = client->SendBatch(batch);
  client->Run();
  EXPECT_EQ(client->ErrorOf(first).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(first + 1).reason, "DEADLINE");
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 1u) << "the second never ran";
}

// It is behind what fills the rings, or behind as much as may be ahead of completion: on the device's side either way.
TEST_F(SessionError, AWorkThatWaitsForTheCardIsDroppedAtItsDeadlineToo) {
  for (const bool full : {false, true}) {
    SCOPED_TRACE(full ? "no room in the rings" : "enough is ahead");
    client.reset();
    core.reset();
    options.card.window_commands = full ? 512 : 1;
    SetUp();
    auto other = Connect();
    other->Send(Allocate(1, 64 << 10), InlineKernel(2), OneKernelProgram(3, 2));
    other->Run();
    card->hold = true;
    if (full) card->room = 1;
    const uint64_t running = other->Send(Launch(3));
    core->RunOnce();
    BatchRequest batch;
    batch.start_within_ms = 10;
    batch.commands.push_back(Launch(3));
    const uint64_t late = client->SendBatch(batch);
    core->RunOnce();
    ASSERT_EQ(core->admin().GetStatus().devices[0].hardware_queues[0].in_flight, 1u)
        << "it is not on the card";
    clock.Advance(std::chrono::milliseconds(11));
    core->RunOnce();
    client->Take();
    EXPECT_EQ(client->ErrorOf(late).reason, "DEADLINE") << "its client does not wait for the card";
    card->hold = false;
    other->Run();
    client->Run();
    EXPECT_EQ(other->ErrorOf(running).code, StatusCode::kOk);
    EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 1u) << "it never ran";
  }
}

TEST_F(SessionError, AWorkThatTheDeviceThreadHoldsCanBeCancelled) {
  auto other = Connect();
  other->Send(Allocate(1, 64 << 10), InlineKernel(2), OneKernelProgram(3, 2));
  other->Run();
  card->hold = true;
  card->room = 1;
  other->Send(Launch(3));
  core->RunOnce();
  const uint64_t late = client->Send(Launch(3));
  core->RunOnce();
  ASSERT_TRUE(client->Cancel({0, late}).ok());
  client->Take();
  EXPECT_EQ(client->ErrorOf(late).code, StatusCode::kCancelled);
  card->hold = false;
  other->Run();
  client->Run();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 1u);
}

TEST_F(SessionError, WhatStartedInTimeFinishesAndIsDiscardedIfItsQueueHasGoneOn) {
  card->hold = true;
  BatchRequest batch;
  batch.start_within_ms = 10;
  batch.commands.push_back(Read(1, 0, 4096));
  const uint64_t read = client->SendBatch(batch);
  core->RunOnce();
  clock.Advance(std::chrono::milliseconds(11));
  core->RunOnce();
  client->Take();
  EXPECT_THAT(client->errors, IsEmpty()) << "a start deadline is no deadline of the end";
  core->admin().TerminateSession(client->id(), "enough").IgnoreError();
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Data(read), "") << "nobody wants it any more";
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.bytes_read, 4096u)
      << "but the card was not stopped";
}

TEST_F(SessionError, ATransferThatBeganInTimeContinuesAfterItsDeadline) {
  client.reset();
  core.reset();
  options.card.window_commands = 1;
  SetUp();
  client->Send(Allocate(4, 1 << 20));
  client->Run();
  card->hold = true;
  BatchRequest batch;
  batch.start_within_ms = 10;
  batch.commands.push_back(FillRequest{4, 0, 1 << 20, 7});
  const uint64_t fill = client->SendBatch(batch);
  for (int i = 0; i < 3; ++i) core->RunOnce();
  ASSERT_EQ(core->admin().GetStatus().devices[0].hardware_queues[0].in_flight, 1u)
      << "a part of it";
  clock.Advance(std::chrono::milliseconds(11));
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), fill);
}

TEST_F(SessionError, TheDaemonsStartTimeoutIsTheDefault) {
  TimeoutsReply timeouts;
  timeouts.start_ms = 20;
  ASSERT_TRUE(core->admin().SetTimeouts(client->id(), timeouts).ok());
  client->Send(StreamedWrite(1, 0, 1024));
  clock.Advance(std::chrono::milliseconds(21));
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, StatusCode::kDeadlineExceeded);
}

TEST_F(SessionError, AClientThatStopsSendingItsDataIsEnded) {
  client->Send(StreamedWrite(1, 0, 64 << 10));
  ASSERT_TRUE(client->Supply(0, 5, 0, Pattern(1024)).ok());
  client->Run();
  clock.Advance(std::chrono::milliseconds(options.timeouts.stalled_client_ms + 1));
  client->Run();
  Status status;
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SessionError, AClientThatSendsEverythingButItsDataIsEnded) {
  client->Send(StreamedWrite(1, 0, 64 << 10));
  ASSERT_TRUE(client->Supply(0, 5, 0, Pattern(1024)).ok());
  for (int i = 0; i < 2; ++i) {
    client->Run();
    clock.Advance(std::chrono::milliseconds(options.timeouts.stalled_client_ms / 2 + 1));
    EXPECT_TRUE(client->Accept({}).ok());
  }
  client->Run();
  Status status;
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
}

// ---- waits on errors of long ago

class SessionOldErrors : public CoreTest {
 protected:
  void SetUp() override {
    options.limits.begun_operations =
        1;  // what is behind a command that waits for data does not begin
    Start();
    client = Connect();
    client->OpenQueue(ComputeQueue(1));
    made = client->Send(Allocate(1, 4096));
    client->Run();
  }
  // Queue 0 fails so many times; the value of the first.
  uint64_t Fail(size_t times) {
    uint64_t first = 0;
    for (size_t i = 0; i < times; ++i) {
      BatchRequest batch;
      batch.clears_error = last_error;
      batch.commands.emplace_back(Free({99}));
      last_error = client->SendBatch(std::move(batch));
      client->Run();
      if (i == 0) first = last_error;
    }
    return first;
  }
  void ClearErrorOf1(uint64_t value) {
    BatchRequest batch;
    batch.queue = 1;
    batch.clears_error = value;
    client->SendBatch(std::move(batch));
  }

  std::unique_ptr<TestClient> client;
  uint64_t made = 0;
  uint64_t last_error = 0;
};

TEST_F(SessionOldErrors, Wait_OnUnrecordedOutcome_IsOutOfRange) {
  const uint64_t first = Fail(FailureHistory::kRanges);
  uint64_t wait = client->SendOn(1, {{0, first}}, Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->ErrorOf(wait, 1).cause, (QueuePosition{0, first})) << "still recorded";
  ClearErrorOf1(wait);
  Fail(1);
  for (const uint64_t old : {first, made}) {
    wait = client->SendOn(1, {{0, old}}, Read(1, 0, 16), Read(1, 0, 16));
    client->Run();
    const ErrorReply error = client->ErrorOf(wait, 1);
    EXPECT_EQ(error.code, StatusCode::kOutOfRange) << error.message;
    EXPECT_EQ(error.reason, "INVALID");
    EXPECT_EQ(error.field, "batch.waits");
    EXPECT_EQ(client->ErrorOf(wait + 1, 1).cause, (QueuePosition{1, wait}));
    EXPECT_TRUE(client->Data(wait, 1).empty()) << "it did not run";
    ClearErrorOf1(wait);
  }
  const uint64_t read = client->SendOn(1, {{0, last_error - 1}}, Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->ErrorOf(read, 1).code, StatusCode::kAborted) << "the newest are recorded";
  ClearErrorOf1(read);
  const uint64_t good = client->SendOn(1, {}, Read(1, 0, 16));
  client->Run();
  EXPECT_EQ(client->Data(good, 1).size(), 16u) << "what an object waits for is the object's affair";
}

TEST_F(SessionOldErrors, Wait_ThatBecameUnrecorded_IsOutOfRange) {
  const uint64_t fails = client->Send(StreamedWrite(1, 0, 64));
  const uint64_t data = client->SendOn(1, {}, StreamedWrite(1, 64, 64));
  const uint64_t waits = client->SendOn(1, {{0, fails}}, Read(1, 0, 16));
  ASSERT_TRUE(client->Cancel({0, fails}).ok());
  client->Run();
  last_error = fails;
  Fail(FailureHistory::kRanges);
  ASSERT_TRUE(client->Supply(1, data, 0, Pattern(64)).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(data, 1).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(waits, 1).code, StatusCode::kOutOfRange);
  EXPECT_TRUE(client->Data(waits, 1).empty());
}

}  // namespace
}  // namespace ttfd::session_error_test
