// Sessions that wait for, hold and join leases, beside sessions that share the card.
#include <gmock/gmock.h>

#include "daemon/session/status_reason.h"
#include "tests/support/core_fixture.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

HelloRequest Hello(AttachKind attach) {
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "test";
  hello.attach = attach;
  return hello;
}

class SessionLeases : public CoreTest {
 protected:
  SessionLeases() {
    options.random_bytes = [this](size_t bytes) {
      std::string random(bytes, 'r');
      random[0] = static_cast<char>(++randoms_);
      return random;
    };
  }
  std::unique_ptr<TestClient> AskFor(std::vector<CoreRange> workers = {}, uint32_t wait_ms = 0,
                                     uint32_t uid = 1000) {
    auto client = std::make_unique<TestClient>(*core);
    HelloRequest hello = Hello(AttachKind::kLease);
    hello.lease.workers = std::move(workers);
    hello.lease.wait_ms = wait_ms;
    const Status status = client->Open(hello, uid);
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    return client;
  }
  Status Join(TestClient* client, const std::string& token, uint32_t uid = 1000) {
    HelloRequest hello = Hello(AttachKind::kLeaseToken);
    hello.lease_token = token;
    return client->Open(hello, uid);
  }
  // One program on (0,0) as handle 3, ready to be launched.
  static void Prepare(TestClient* client, CoreRange cores = {0, 0, 0, 0}) {
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2, cores));
    client->Run();
  }
  // While something is held on the card, which never rests.
  void RunSome() {
    for (int i = 0; i < 10; ++i) core->RunOnce();
  }
  static Status EndOf(TestClient* client) {
    Status status;
    EXPECT_TRUE(client->session().finished(&status));
    return status;
  }
  std::string StateOf(TestClient* client) {
    for (const SessionInfoReply& info : core->ListSessions()) {
      if (info.session == client->session().welcome().session) return info.state;
    }
    return "gone";
  }

 private:
  int randoms_ = 0;
};

TEST_F(SessionLeases, AFreeCardIsLeasedAtOnce) {
  Start();
  auto client = AskFor();
  EXPECT_TRUE(client->session().waiting());
  EXPECT_FALSE(client->session().WantsInput()) << "what it sends waits with it";
  EXPECT_EQ(StateOf(client.get()), "waiting");
  client->Run();
  EXPECT_TRUE(client->welcomed);
  EXPECT_FALSE(client->lease_token.empty());
  EXPECT_TRUE(client->session().WantsInput());
  EXPECT_EQ(StateOf(client.get()), "active");
  const auto leases = core->ListLeases();
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_EQ(leases[0].state, "held");
  Prepare(client.get());
  const uint64_t launch = client->Send(Launch(3));
  client->Run();
  EXPECT_EQ(client->Progress(), launch);
}

TEST_F(SessionLeases, WhatAResetPutBackEndsBeforeALeaseBegins) {
  Start();
  auto culprit = Connect();
  auto other = Connect();
  Prepare(culprit.get());
  Prepare(other.get());
  card->hold = true;
  culprit->Send(Launch(3));
  other->Send(Launch(3), Launch(3), Launch(3));
  RunSome();
  auto holder = AskFor();
  RunSome();
  card->log.clear();
  card->room = 1;  // one after the other
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  RunSome();
  EXPECT_EQ(card->boots, 2);
  holder->Take();
  EXPECT_FALSE(holder->welcomed) << "launches of another are still to run";
  card->hold = false;
  RunAll();
  holder->Take();
  other->Take();
  EXPECT_TRUE(holder->welcomed);
  EXPECT_EQ(other->Progress(), 6u);
  EXPECT_THAT(other->errors, IsEmpty());
}

TEST_F(SessionLeases, LeasesGoFromOneToTheNextInOrder) {
  Start();
  auto first = AskFor();
  first->Run();
  auto second = AskFor();
  auto third = AskFor();
  RunAll();
  second->Take();
  third->Take();
  EXPECT_FALSE(second->welcomed);
  EXPECT_EQ(second->waiting.position, 1u);
  EXPECT_THAT(second->waiting.holder, HasSubstr("session 1 "));
  EXPECT_EQ(third->waiting.position, 2u);
  first.reset();  // as a client that dies does
  RunAll();
  second->Take();
  third->Take();
  EXPECT_TRUE(second->welcomed);
  EXPECT_FALSE(third->welcomed);
  EXPECT_EQ(third->waiting.position, 1u);
  EXPECT_THAT(third->waiting.holder, HasSubstr("session 2 "));
  second->session().FinishInput();
  EXPECT_TRUE(EndOf(second.get()).ok());
  RunAll();
  third->Take();
  EXPECT_TRUE(third->welcomed);
}

TEST_F(SessionLeases, AWaiterThatDiesLeavesTheQueue) {
  Start();
  auto first = AskFor();
  first->Run();
  auto second = AskFor();
  auto third = AskFor();
  RunAll();
  second.reset();
  RunAll();
  third->Take();
  EXPECT_EQ(third->waiting.position, 1u);
  EXPECT_THAT(core->ListLeases(), SizeIs(2));
}

TEST_F(SessionLeases, WorkOfOthersThatHasStartedEndsFirstAndTheRestWaits) {
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
  EXPECT_EQ(core->ListLeases()[0].state, "granting");
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

TEST_F(SessionLeases, TheDeviceThreadIsIdleWhileOnlyOthersWorkWaits) {
  Start();
  auto holder = AskFor();
  holder->Run();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  RunAll();
  EXPECT_FALSE(core->RunOnce()) << "a daemon that waits for a lease to end uses no processor";
}

TEST_F(SessionLeases, TheDeviceThreadIsIdleWhileAnotherQueueWaitsForWhatALeaseKeepsOut) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto shared = Connect();
  Prepare(shared.get());
  shared->Send(TransferQueue(1));
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

TEST_F(SessionLeases, WorkThatWaitedTooLongSaysForWhom) {
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

TEST_F(SessionLeases, AClientThatDiesWhileItsWorkWaitsLeavesNothingBehind) {
  Start();
  auto holder = AskFor();
  auto shared = Connect();
  Prepare(shared.get());
  holder->Run();
  shared->Send(Launch(3), Launch(3));
  RunAll();
  shared.reset();
  RunAll();
  EXPECT_THAT(core->ListSessions(), SizeIs(1)) << "not even until the lease ends";
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

// ---- tokens

TEST_F(SessionLeases, WhoHasTheTokenWorksUnderTheLease) {
  Start();
  auto holder = AskFor();
  holder->Run();
  TestClient member(*core);
  ASSERT_TRUE(Join(&member, holder->lease_token).ok());
  EXPECT_FALSE(member.session().waiting());
  Prepare(&member);
  const uint64_t launch = member.Send(Launch(3));
  member.Run();
  EXPECT_EQ(member.Progress(), launch);
  ASSERT_THAT(core->ListLeases(), SizeIs(1));
  EXPECT_EQ(core->ListLeases()[0].sessions, 2u);
}

TEST_F(SessionLeases, AWrongTokenAnotherUsersOrAnEndedLeasesIsRefused) {
  Start();
  auto holder = AskFor();
  holder->Run();
  const std::string token = holder->lease_token;
  std::string wrong = token;
  wrong.back() = 'x';
  TestClient other(*core);
  for (const Status& status :
       {Join(&other, wrong), Join(&other, token, 1001), Join(&other, ""), Join(&other, token + "r"),
        Join(&other, holder->session().welcome().token)}) {
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_EQ(PayloadOf(status, kReasonPayload), "LEASE_ENDED");
  }
  holder.reset();
  RunAll();
  EXPECT_EQ(Join(&other, token).code(), StatusCode::kNotFound);
  EXPECT_THAT(core->ListSessions(), IsEmpty());
}

TEST_F(SessionLeases, WhenTheHolderDiesItsMembersEndAndTheNextGoesOnWhenTheirWorkHasEnded) {
  Start();
  auto holder = AskFor();
  holder->Run();
  TestClient member(*core);
  ASSERT_TRUE(Join(&member, holder->lease_token).ok());
  Prepare(&member);
  card->hold = true;
  member.Send(Launch(3));
  core->RunOnce();
  auto next = AskFor();
  holder.reset();
  RunSome();
  const Status status = EndOf(&member);
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(PayloadOf(status, kReasonPayload), "LEASE_ENDED");
  next->Take();
  EXPECT_FALSE(next->welcomed) << "the member's launch still runs";
  card->hold = false;
  next->Run();
  EXPECT_TRUE(next->welcomed);
}

// ---- tiles

TEST_F(SessionLeases, OthersGoOnWithTheRestOfTheCard) {
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

TEST_F(SessionLeases, AQueueWithALeasedTileWaitsAsAWhole) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096), ComputeQueue(1, {{0, 0, 1, 0}}), ComputeQueue(2, {{1, 0, 1, 0}}));
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

TEST_F(SessionLeases, ALeaseOfTilesLaunchesNowhereElse) {
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
  BatchRequest batch;
  batch.clears_error = outside;
  batch.commands.push_back(Request(ComputeQueue(1, {{0, 0, 0, 1}})));
  const uint64_t queue = holder->SendBatch(std::move(batch));
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(queue).code, StatusCode::kInvalidArgument);
  EXPECT_THAT(holder->ErrorOf(queue).message, HasSubstr("not in the lease"));
}

TEST_F(SessionLeases, DisjointLeasesAreHeldAtOnceOverlappingOnesOneAfterTheOther) {
  Start();
  auto left = AskFor({{0, 0, 0, 1}});
  auto right = AskFor({{1, 0, 1, 1}});
  auto row = AskFor({{0, 0, 1, 0}});
  RunAll();
  left->Take();
  right->Take();
  row->Take();
  EXPECT_TRUE(left->welcomed);
  EXPECT_TRUE(right->welcomed);
  EXPECT_FALSE(row->welcomed);
  left.reset();
  RunAll();
  row->Take();
  EXPECT_FALSE(row->welcomed);
  right.reset();
  RunAll();
  row->Take();
  EXPECT_TRUE(row->welcomed);
}

TEST_F(SessionLeases, LeasesOfWhatTheCardHasNotAreRefused) {
  Start();
  for (const std::vector<CoreRange>& workers : std::vector<std::vector<CoreRange>>{
           {{0, 0, 99, 0}}, {{1, 0, 0, 0}}, {{0, 0, 1, 0}, {1, 0, 1, 0}}}) {
    TestClient client(*core);
    HelloRequest hello = Hello(AttachKind::kLease);
    hello.lease.workers = workers;
    EXPECT_EQ(client.Open(hello).code(), StatusCode::kInvalidArgument);
  }
  TestClient client(*core);
  HelloRequest hello = Hello(AttachKind::kLease);
  hello.lease.device = 1;
  EXPECT_EQ(client.Open(hello).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(core->ListLeases(), IsEmpty());
}

// ---- time

TEST_F(SessionLeases, WhoWaitsTooLongHearsWhoHoldsIt) {
  Start();
  auto holder = AskFor();
  holder->Run();
  auto waiter = AskFor({}, 300);
  waiter->Run();
  clock.Advance(milliseconds(300));
  waiter->Run();
  const Status status = EndOf(waiter.get());
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("held by session 1 "));
  EXPECT_THAT(core->ListLeases(), SizeIs(1));
}

TEST_F(SessionLeases, AnIdleLeaseEndsAndABusyOneDoesNot) {
  options.limits.lease_idle_ms = 1000;
  Start();
  auto holder = AskFor();
  holder->Run();
  Prepare(holder.get());
  card->hold = true;
  holder->Send(Launch(3));
  core->RunOnce();
  for (int i = 0; i < 5; ++i) {
    clock.Advance(milliseconds(900));
    core->RunOnce();
  }
  EXPECT_EQ(StateOf(holder.get()), "active") << "a launch runs";
  card->hold = false;
  holder->Run();
  clock.Advance(milliseconds(999));
  holder->Run();
  EXPECT_EQ(StateOf(holder.get()), "active");
  clock.Advance(milliseconds(2));
  holder->Run();
  const Status status = EndOf(holder.get());
  EXPECT_EQ(PayloadOf(status, kReasonPayload), "LEASE_ENDED");
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("lease_idle_ms"));
}

TEST_F(SessionLeases, ALeaseEndsAfterItsTimeAndTheNextIsGranted) {
  options.limits.lease_ms = 2000;
  Start();
  auto holder = AskFor();
  holder->Run();
  auto next = AskFor();
  next->Run();
  EXPECT_LE(next->waiting.expected_wait_ms, 2000u);
  clock.Advance(milliseconds(2000));
  holder->Run();
  EXPECT_THAT(std::string(StatusMessage(EndOf(holder.get()))), HasSubstr("lease_ms"));
  next->Run();
  EXPECT_TRUE(next->welcomed);
}

// ---- drain, reset

TEST_F(SessionLeases, ADrainSendsWaitersAwayAndLetsHoldersFinish) {
  Start();
  auto holder = AskFor();
  holder->Run();
  Prepare(holder.get());
  auto waiter = AskFor();
  RunAll();
  card->hold = true;
  const uint64_t launch = holder->Send(Launch(3));
  core->RunOnce();
  bool done = false;
  core->Drain(1000, [&](const std::string&, uint64_t, bool last) { done = last; });
  EXPECT_EQ(PayloadOf(EndOf(waiter.get()), kReasonPayload), "DRAINING");
  card->hold = false;
  holder->Run();
  EXPECT_EQ(holder->Progress(), launch);
  EXPECT_EQ(PayloadOf(EndOf(holder.get()), kReasonPayload), "DRAINING");
  RunAll();
  EXPECT_TRUE(done);
  EXPECT_THAT(core->ListLeases(), IsEmpty());
}

TEST_F(SessionLeases, AResetLeavesLeasesAsTheyAre) {
  Start();
  auto holder = AskFor();
  holder->Run();
  Prepare(holder.get());
  auto shared = Connect();
  const uint64_t waits = shared->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  RunAll();
  card->hold = true;
  const uint64_t launch = holder->Send(Launch(3));
  core->RunOnce();
  bool reset = false;
  ASSERT_TRUE(core->ResetDevice(0, [&](const Status& status) { reset = status.ok(); }).ok());
  core->RunOnce();
  card->hold = false;
  EXPECT_TRUE(reset);
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(launch).reason, "DEVICE_RESET");
  EXPECT_EQ(core->ListLeases()[0].state, "held");
  shared->Run();
  EXPECT_LT(shared->Progress(), waits + 1) << "still kept out";
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), waits + 1);
}

TEST_F(SessionLeases, AStopEndsHoldersWaitersAndWhatWaitsForThem) {
  Start();
  auto holder = AskFor();
  holder->Run();
  auto waiter = AskFor();
  auto shared = Connect();
  shared->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  RunAll();
  EXPECT_TRUE(core->Stop(clock.Now() + seconds(1)).ok());
  for (TestClient* client : {holder.get(), waiter.get(), shared.get()}) {
    EXPECT_EQ(EndOf(client).code(), StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace ttfd
