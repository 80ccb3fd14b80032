// What a lease keeps out, and what goes on beside it.
#include <gmock/gmock.h>

#include "tests/support/lease_fixture.h"

namespace ttfd::session_lease_work_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using LeaseKeepsOut = LeaseTest;

TEST_F(LeaseKeepsOut, WhatAResetTookOffTheCardWaitsForTheLeaseAsTheRestDoes) {
  Start();
  auto offender = Connect();
  auto other = Connect();
  Prepare(offender.get());
  Prepare(other.get());
  card->hold = true;
  offender->Send(Launch(3));
  other->Send(Launch(3), Launch(3), Launch(3));
  RunSome();
  auto holder = AskFor();
  RunSome();
  card->log.clear();
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  RunSome();
  EXPECT_EQ(card->boots, 2);
  holder->Take();
  EXPECT_TRUE(holder->welcomed) << "nothing of others is on the card";
  card->hold = false;
  RunAll();
  other->Take();
  EXPECT_EQ(other->Progress(), 3u);
  holder->Abandon();
  RunAll();
  other->Take();
  EXPECT_EQ(other->Progress(), 6u);
  EXPECT_THAT(other->errors, IsEmpty());
}

TEST_F(LeaseKeepsOut, WorkOfOthersThatHasStartedEndsFirstAndTheRestWaits) {
  Start();
  auto shared = Connect();
  Prepare(shared.get());
  card->hold = true;
  const uint64_t started = shared->Send(Launch(3));
  core->RunOnce();
  auto holder = AskFor();
  RunSome();
  holder->Take();
  EXPECT_FALSE(holder->welcomed) << "the launch still runs";
  EXPECT_EQ(core->admin().ListLeases()[0].state, LeaseState::kGranting);
  const uint64_t later = shared->Send(Launch(3), Launch(3));
  card->hold = false;
  holder->Run();
  EXPECT_TRUE(holder->welcomed);
  shared->Run();
  EXPECT_EQ(shared->Progress(), started) << "the later launches wait";
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), later + 1);
}

TEST_F(LeaseKeepsOut, TheDeviceThreadIsIdleWhileOnlyOthersWorkWaits) {
  Start();
  auto holder = AskFor();
  holder->Run();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  RunAll();
  EXPECT_FALSE(core->RunOnce()) << "a daemon that waits for a lease to end uses no processor";
}

TEST_F(LeaseKeepsOut, TheDeviceThreadIsIdleWhileAnotherQueueWaitsForWhatALeaseKeepsOut) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto shared = Connect();
  Prepare(shared.get());
  shared->OpenQueue(TransferQueue(1));
  shared->Run();
  const uint64_t launch = shared->Send(Launch(3));  // on a worker that is leased
  shared->SendOn(1, {{0, launch}}, Read(1, 0, 16));
  RunAll();
  EXPECT_FALSE(core->RunOnce()) << "what waits for work that waits for a lease uses no processor";
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), launch);
  EXPECT_EQ(shared->Progress(1), 1u);
}

TEST_F(LeaseKeepsOut, WorkThatWaitedTooLongSaysForWhom) {
  Start();
  auto holder = AskFor();
  holder->Run();
  auto shared = Connect();
  Prepare(shared.get());
  BatchRequest batch;
  batch.start_within_ms = 500;
  batch.commands.push_back(Request(Launch(3)));
  const uint64_t launch = shared->SendBatch(std::move(batch));
  shared->Run();
  clock.Advance(milliseconds(501));
  shared->Run();
  EXPECT_EQ(shared->ErrorOf(launch).reason, "DEADLINE");
  EXPECT_THAT(shared->ErrorOf(launch).message, HasSubstr("leased by session 1 "));
}

TEST_F(LeaseKeepsOut, FailedWork_HoldsNoWindow) {
  options.limits.window_bytes = 640;
  Start();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096));
  shared->OpenQueue(TransferQueue(1));
  shared->Run();
  auto holder = AskFor();
  holder->Run();
  BatchRequest batch;
  batch.start_within_ms = 500;
  batch.commands.push_back(Request(InlineWrite(1, 0, Pattern(64))));
  const uint64_t write = shared->SendBatch(std::move(batch), 640);
  shared->SendOn(1, {{0, write}}, Read(1, 0, 64));
  shared->Run();
  EXPECT_FALSE(shared->MaySend(1)) << "its window is full";
  EXPECT_FALSE(core->RunOnce());
  clock.Advance(milliseconds(501));
  shared->Run();
  EXPECT_EQ(shared->ErrorOf(write).reason, "DEADLINE");
  EXPECT_EQ(shared->ErrorOf(1, 1).cause, (QueuePosition{0, write}));
  EXPECT_TRUE(shared->MaySend(640));
  EXPECT_THAT(core->admin().ListLeases(), SizeIs(1)) << "the lease is held as before";
  EXPECT_FALSE(core->RunOnce());
}

TEST_F(LeaseKeepsOut, AClientThatDiesWhileItsWorkWaitsLeavesNothingBehind) {
  Start();
  auto holder = AskFor();
  auto shared = Connect();
  Prepare(shared.get());
  holder->Run();
  shared->Send(Launch(3), Launch(3));
  RunAll();
  shared.reset();
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(1)) << "not even until the lease ends";
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

// ---- tokens

TEST_F(LeaseKeepsOut, OthersGoOnWithTheRestOfTheCard) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  ASSERT_TRUE(holder->welcomed);
  auto there = Connect();
  Prepare(there.get(), {0, 0, 0, 0});
  auto beside = Connect();
  Prepare(beside.get(), {1, 0, 1, 0});
  const uint64_t waits = there->Send(Launch(3));
  const uint64_t runs = beside->Send(Launch(3), InlineWrite(1, 0, Pattern(64)), Read(1, 0, 64));
  there->Run();
  beside->Run();
  EXPECT_EQ(there->Progress(), waits - 1) << "its launch is for the leased tile";
  EXPECT_EQ(beside->Progress(), runs + 2);
  for (const Route& route : card->routes) {
    EXPECT_FALSE(route.workers.any() && route.workers.test(0)) << "never with the leased tile";
  }
  holder.reset();
  there->Run();
  EXPECT_EQ(there->Progress(), waits);
}

TEST_F(LeaseKeepsOut, AQueueWithALeasedTileWaitsAsAWhole) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096));
  shared->OpenQueue(ComputeQueue(1, {{0, 0, 1, 0}}));
  shared->OpenQueue(ComputeQueue(2, {{1, 0, 1, 0}}));
  shared->Run();
  shared->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  shared->SendOn(2, {}, InlineWrite(1, 64, Pattern(64)));
  shared->Run();
  EXPECT_EQ(shared->Progress(1), 0u);
  EXPECT_EQ(shared->Progress(2), 1u);
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(1), 1u);
}

TEST_F(LeaseKeepsOut, ALeaseOfTilesLaunchesNowhereElse) {
  Start();
  auto holder = AskFor({{0, 0, 1, 0}});
  holder->Run();
  Prepare(holder.get(), {1, 0, 1, 0});
  holder->Send(OneKernelProgram(4, 2, {0, 1, 1, 1}));
  const uint64_t inside = holder->Send(Launch(3));
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(inside).code, StatusCode::kOk);
  TileSet leased;
  leased.set(0).set(1);
  EXPECT_EQ(card->routes.back().workers, leased);
  const uint64_t outside = holder->Send(Launch(4));
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(outside).code, StatusCode::kInvalidArgument);
  holder->OpenQueue(ComputeQueue(1, {{0, 0, 0, 1}}));
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(0, 1).code, StatusCode::kInvalidArgument);
  EXPECT_THAT(holder->ErrorOf(0, 1).message, HasSubstr("not in the lease"));
}

class LeaseDuringAReplay : public LeaseTest {
 protected:
  // A few of the 20 segments of a session's replay have run.
  void StartReplay() {
    Start();
    shared = Connect();
    Prepare(shared.get());
    shared->Send(RecordTraceRequest{20, std::vector<LaunchRequest>(40, Launch(3)), false});
    shared->Run();
    card->completes_per_poll = 1;
    replay = shared->Send(ReplayTraceRequest{20, {}});
    for (int i = 0; i < 4; ++i) core->RunOnce();
  }

  std::unique_ptr<TestClient> shared;
  uint64_t replay = 0;
};

TEST_F(LeaseDuringAReplay, TheRestWaits) {
  StartReplay();
  auto holder = AskFor();
  holder->Run();
  EXPECT_TRUE(holder->welcomed) << "between two segments";
  EXPECT_LT(core->admin().GetStatus().devices[0].stats.launches, 20u);
  shared->Take();
  EXPECT_LT(shared->Progress(), replay);
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), replay);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 40u);
}

TEST_F(LeaseDuringAReplay, AFailureDoesNotWait) {
  StartReplay();
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "a fault");
  };
  auto holder = AskFor();
  holder->Run();
  EXPECT_TRUE(holder->welcomed);
  shared->Take();
  EXPECT_EQ(shared->ErrorOf(replay).reason, "DEVICE_FAULT");
}

}  // namespace
}  // namespace ttfd::session_lease_work_test
