// Sessions that wait for, hold and join leases.
#include <gmock/gmock.h>

#include "daemon/api/status_reason.h"
#include "tests/support/lease_fixture.h"

namespace ttfd::session_lease_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using SessionLeases = LeaseTest;

TEST_F(SessionLeases, AFreeCardIsLeasedAtOnce) {
  Start();
  auto client = AskFor();
  EXPECT_EQ(StateOf(client.get()), SessionState::kWaiting);
  client->Run();
  EXPECT_TRUE(client->welcomed);
  EXPECT_FALSE(client->lease_token.empty());
  EXPECT_EQ(StateOf(client.get()), SessionState::kActive);
  const auto leases = core->admin().ListLeases();
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_EQ(leases[0].state, LeaseState::kHeld);
  Prepare(client.get());
  const uint64_t launch = client->Send(Launch(3));
  client->Run();
  EXPECT_EQ(client->Progress(), launch);
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
  EXPECT_EQ(second->lease_wait().position, 1u);
  EXPECT_THAT(second->lease_wait().holders.Text(), HasSubstr("session 1 "));
  EXPECT_EQ(third->lease_wait().position, 2u);
  first.reset();  // as a client that dies does
  RunAll();
  second->Take();
  third->Take();
  EXPECT_TRUE(second->welcomed);
  EXPECT_FALSE(third->welcomed);
  EXPECT_EQ(third->lease_wait().position, 1u);
  EXPECT_THAT(third->lease_wait().holders.Text(), HasSubstr("session 2 "));
  second->Finish();
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
  EXPECT_EQ(third->lease_wait().position, 1u);
  EXPECT_THAT(core->admin().ListLeases(), SizeIs(2));
}

TEST_F(SessionLeases, WhoHasTheTokenWorksUnderTheLease) {
  Start();
  auto holder = AskFor();
  holder->Run();
  TestClient member(*core);
  ASSERT_TRUE(Join(&member, holder->lease_token).ok());
  Prepare(&member);
  const uint64_t launch = member.Send(Launch(3));
  member.Run();
  EXPECT_EQ(member.Progress(), launch);
  ASSERT_THAT(core->admin().ListLeases(), SizeIs(1));
  EXPECT_EQ(core->admin().ListLeases()[0].sessions, 2u);
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
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
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
  hello.device = 1;
  EXPECT_EQ(client.Open(hello).code(), StatusCode::kNotFound);
  EXPECT_THAT(core->admin().ListLeases(), IsEmpty());
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
  EXPECT_THAT(core->admin().ListLeases(), SizeIs(1));
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
  EXPECT_EQ(StateOf(holder.get()), SessionState::kActive) << "a launch runs";
  card->hold = false;
  holder->Run();
  clock.Advance(milliseconds(999));
  holder->Run();
  EXPECT_EQ(StateOf(holder.get()), SessionState::kActive);
  holder->OpenQueue(ComputeQueue(7));  // a message without commands
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
  EXPECT_LE(next->lease_wait().expected_wait_ms, 2000u);
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
  core->admin().Drain(1000, [&](const ProgressReply& progress) { done = progress.done; });
  EXPECT_EQ(PayloadOf(EndOf(waiter.get()), kReasonPayload), "DRAINING");
  card->hold = false;
  holder->Run();
  EXPECT_EQ(holder->Progress(), launch);
  EXPECT_EQ(PayloadOf(EndOf(holder.get()), kReasonPayload), "DRAINING");
  RunAll();
  EXPECT_TRUE(done);
  EXPECT_THAT(core->admin().ListLeases(), IsEmpty());
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
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&](const Status& status) { reset = status.ok(); }).ok());
  core->RunOnce();
  card->hold = false;
  EXPECT_TRUE(reset);
  holder->Run();
  EXPECT_EQ(holder->ErrorOf(launch).reason, "DEVICE_RESET");
  EXPECT_EQ(core->admin().ListLeases()[0].state, LeaseState::kHeld);
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
}  // namespace ttfd::session_lease_test
