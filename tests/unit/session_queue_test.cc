// Queues of a session: both hardware queues, workers of their own, waits that the card keeps.
#include <gmock/gmock.h>

#include "tests/support/core_fixture.h"

namespace ttfd::session_queue_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Program 3 runs on worker (0,0), program 4 on (2,0) and (3,0). Queue 1 is a transfer queue.
class SessionQueue : public CoreTest {
 protected:
  void Prepare() {
    Start();
    client = Connect();
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
                 OneKernelProgram(4, 2, {2, 0, 3, 0}), BarrierRequest{});
    client->OpenQueue(TransferQueue(1));
    client->Run();
    card->log.clear();
  }
  void Rounds(int count = 10) {
    for (int i = 0; i < count; ++i) core->RunOnce();
    client->Take();
  }
  // The kernels of a program run until `ended` is set.
  void RunUntilEnded() {
    card->runs_on = [this](const LaunchCommand&) { return !ended; };
  }

  std::unique_ptr<TestClient> client;
  bool ended = false;
};

TEST_F(SessionQueue, AnUploadOnATransferQueueEndsWhileAKernelRuns) {
  Prepare();
  RunUntilEnded();
  client->Send(Launch(3));
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(1024)), Read(1, 0, 1024));
  Rounds();
  EXPECT_EQ(client->Progress(1), 2u);
  EXPECT_EQ(client->Data(2, 1), Pattern(1024));
  EXPECT_EQ(client->Progress(0), 5u) << "the kernel still runs";
  ended = true;
  client->Run();
  EXPECT_EQ(client->Progress(0), 6u);
}

TEST_F(SessionQueue, AnotherSessionsTransfersOverlapKernelsToo) {
  Prepare();
  auto other = Connect();
  other->Send(Allocate(1, 1024));
  other->OpenQueue(TransferQueue(9));
  other->Run();
  RunUntilEnded();
  client->Send(Launch(3));
  other->SendOn(9, {}, InlineWrite(1, 0, Pattern(1024)));
  Rounds();
  other->Take();
  EXPECT_EQ(other->Progress(9), 1u);
  EXPECT_EQ(client->Progress(0), 5u);
  ended = true;
  client->Run();
}

TEST_F(SessionQueue, TheCardKeepsAWaitForWhatIsOnIt) {
  Prepare();
  card->hold = true;
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  client->SendOn(0, {{1, 1}}, Launch(3));
  Rounds();
  EXPECT_THAT(card->log, ElementsAre("1: write 64", "1: event", "wait for 1:1", "launch", "event"));
  EXPECT_EQ(client->Progress(0), 5u);
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(0), 6u);
  EXPECT_THAT(client->errors, IsEmpty());
}

TEST_F(SessionQueue, WhatWaitsIsHandedOnWithWhatItWaitsFor) {
  Prepare();
  card->hold = true;
  client->SendOn(1, {}, StreamedWrite(1, 0, 64));
  client->SendOn(0, {{1, 1}}, Launch(3));
  Rounds();
  EXPECT_THAT(card->log, IsEmpty());
  ASSERT_TRUE(client->Supply(1, 1, 0, Pattern(64)).ok());
  Rounds();
  EXPECT_THAT(card->log, ElementsAre("1: write 64", "1: event", "wait for 1:1", "launch", "event"));
  card->hold = false;
  client->Run();
}

TEST_F(SessionQueue, AWaitForWhatIsNotOnTheCardKeepsNobodyFromIt) {
  Prepare();
  auto other = Connect();
  other->Send(Allocate(1, 1024));
  other->OpenQueue(TransferQueue(1));
  other->Run();
  card->log.clear();
  client->Send(StreamedWrite(1, 0, 1024));  // its data does not come yet
  client->SendOn(1, {{0, 6}}, Read(1, 0, 1024));
  other->SendOn(1, {}, Read(1, 0, 64));
  Rounds();
  other->Take();
  EXPECT_EQ(other->Progress(1), 1u);
  EXPECT_EQ(client->Progress(1), 0u);
  ASSERT_TRUE(client->Supply(0, 6, 0, Pattern(1024)).ok());
  client->Run();
  EXPECT_EQ(client->Data(1, 1), Pattern(1024));
}

TEST_F(SessionQueue, AWaitForWhatTakesLongIsKeptByTheDaemon) {
  options.scheduler.launch_guess = std::chrono::milliseconds(5);
  Prepare();
  auto other = Connect();
  other->Send(Allocate(1, 1024));
  other->OpenQueue(TransferQueue(1));
  other->Run();
  card->log.clear();
  RunUntilEnded();
  client->Send(Launch(3));
  client->SendOn(1, {{0, 6}}, Read(1, 0, 64));
  Rounds();
  other->SendOn(1, {}, Read(1, 0, 16));
  Rounds();
  other->Take();
  EXPECT_EQ(other->Progress(1), 1u) << "its hardware queue is not held up";
  EXPECT_THAT(card->log, Not(Contains("1: read 64")));
  ended = true;
  client->Run();
  EXPECT_EQ(client->Progress(1), 1u);
  EXPECT_THAT(card->log, Not(Contains(HasSubstr("wait for")))) << "what is over needs no wait";
}

TEST_F(SessionQueue, WhatFollowsABarrierWaitsWithIt) {
  Prepare();
  card->hold = true;
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  client->SendOn(0, {{1, 1}}, BarrierRequest{});
  client->Send(Launch(3));
  Rounds();
  EXPECT_THAT(card->log, Contains("wait for 1:1"));
  EXPECT_EQ(client->Progress(0), 5u) << "the barrier has not ended either";
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(0), 7u);
}

TEST_F(SessionQueue, WhatWaitsForABarrierInAnotherQueueWaitsForAllThatTheBarrierDoes) {
  Prepare();
  client->OpenQueue(ComputeQueue(2));
  card->hold = true;
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  client->SendOn(2, {{1, 1}}, BarrierRequest{});
  client->SendOn(0, {{2, 1}}, Launch(3));
  Rounds();
  EXPECT_THAT(card->log, Not(Contains("launch"))) << "the write has not ended";
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(0), 6u);
}

TEST_F(SessionQueue, QueuesOfOneRouteNeedNoWaitOnTheCard) {
  Prepare();
  client->OpenQueue(ComputeQueue(2));
  client->Send(BarrierRequest{});
  client->Run();
  card->hold = true;
  client->Send(Launch(3));
  client->SendOn(2, {{0, 7}}, Read(1, 0, 64));
  Rounds();
  EXPECT_THAT(card->log, ElementsAre("launch", "event", "read 64", "event"));
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(2), 1u);
}

TEST_F(SessionQueue, AWaiterEndsWithTheFirstCauseOfWhatItWaitsFor) {
  Prepare();
  client->Send(StreamedWrite(1, 0, 1024), Launch(3));
  client->SendOn(1, {{0, 7}}, Read(1, 0, 64), Read(1, 0, 64));
  Rounds();
  ASSERT_TRUE(client->Cancel({0, 6}).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(6).code, StatusCode::kCancelled);
  EXPECT_EQ(client->ErrorOf(1, 1).cause, (QueuePosition{0, 6}));
  EXPECT_EQ(client->ErrorOf(2, 1).cause, (QueuePosition{0, 6}));
}

TEST_F(SessionQueue, AWaiterLostWithWhatItWaitsForHasItsCause) {
  Prepare();
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  client->Send(Launch(3));
  client->SendOn(1, {{0, 6}}, Read(1, 0, 64));
  client->Run();
  EXPECT_EQ(client->ErrorOf(6).reason, "DEVICE_FAULT");
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  EXPECT_EQ(client->ErrorOf(1, 1).cause, (QueuePosition{0, 6}));
}

TEST_F(SessionQueue, AWaiterThatTheCardLostAfterWhatItWaitedForIsPlayedAgain) {
  Prepare();
  card->completes_per_poll = 1;
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  const uint64_t read = client->SendOn(0, {{1, 1}}, Read(1, 0, 64));
  core->RunOnce();
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  client->Run();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  EXPECT_EQ(client->Progress(1), 1u);
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Data(read), Pattern(64));
}

TEST_F(SessionQueue, AWaiterEndsAfterWhatItWaitedFor) {
  Prepare();
  bool tell = false;
  // The read's event is seen, that of the write it waited for not yet.
  card->late_completions = [&tell](uint32_t queue) { return queue == 1 && !tell; };
  client->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  client->SendOn(0, {{1, 1}}, Read(1, 0, 64));
  Rounds();
  EXPECT_EQ(client->Progress(0), 5u);
  tell = true;
  client->Run();
  EXPECT_EQ(client->Progress(0), 6u);
  EXPECT_EQ(client->Progress(1), 1u);
}

// ---- sub-devices

TEST_F(SessionQueue, TwoSubDevicesRunAtOnce) {
  Prepare();
  client->OpenQueue(ComputeQueue(2, {{0, 0, 1, 2}}));
  client->OpenQueue(ComputeQueue(3, {{2, 0, 3, 2}}));
  client->Run();
  RunUntilEnded();
  int running = 0;
  card->on_launch = [&running](const LaunchCommand&) {
    ++running;
    return OkStatus();
  };
  client->SendOn(2, {}, Launch(3));
  client->SendOn(3, {}, Launch(4));
  Rounds();
  EXPECT_EQ(running, 2);
  ended = true;
  client->Run();
  EXPECT_EQ(client->Progress(2), 1u);
  EXPECT_EQ(client->Progress(3), 1u);
}

TEST_F(SessionQueue, SubDevicesOfTwoSessionsRunAtOnce) {
  Prepare();
  auto other = Connect();
  other->Send(InlineKernel(2), OneKernelProgram(4, 2, {2, 0, 3, 0}));
  other->OpenQueue(ComputeQueue(3, {{2, 0, 3, 2}}));
  other->Run();
  client->OpenQueue(ComputeQueue(2, {{0, 0, 1, 2}}));
  client->Run();
  RunUntilEnded();
  int running = 0;
  card->on_launch = [&running](const LaunchCommand&) {
    ++running;
    return OkStatus();
  };
  client->SendOn(2, {}, Launch(3));
  other->SendOn(3, {}, Launch(4));
  Rounds();
  EXPECT_EQ(running, 2);
  ended = true;
  client->Run();
  other->Run();
}

TEST_F(SessionQueue, AProgramOutsideItsQueuesWorkersIsRefused) {
  Prepare();
  client->OpenQueue(ComputeQueue(2, {{0, 0, 2, 2}}));
  client->SendOn(2, {}, Launch(4));
  client->Run();
  const ErrorReply error = client->ErrorOf(1, 2);
  EXPECT_EQ(error.code, StatusCode::kInvalidArgument);
  EXPECT_EQ(error.reason, "INVALID");
  EXPECT_EQ(error.field, "launch.program");
  EXPECT_THAT(error.message, HasSubstr("(3,0)"));
  EXPECT_THAT(error.message, HasSubstr("queue 2"));
  EXPECT_THAT(card->log, IsEmpty());
}

TEST_F(SessionQueue, StatusTellsWhatIsOnEachHardwareQueue) {
  Prepare();
  const uint64_t before = core->admin().GetStatus().devices[0].hardware_queues[0].completed;
  card->hold = true;
  client->Send(Launch(3), Launch(3));
  client->SendOn(1, {}, Read(1, 0, 64));
  Rounds();
  std::vector<HardwareQueueStats> queues = core->admin().GetStatus().devices[0].hardware_queues;
  ASSERT_EQ(queues.size(), 2u);
  EXPECT_EQ(queues[0].in_flight, 2u);
  EXPECT_EQ(queues[1].in_flight, 1u);
  card->hold = false;
  client->Run();
  queues = core->admin().GetStatus().devices[0].hardware_queues;
  EXPECT_EQ(queues[0].in_flight, 0u);
  EXPECT_EQ(queues[0].completed, before + 2);
}

}  // namespace
}  // namespace ttfd::session_queue_test
