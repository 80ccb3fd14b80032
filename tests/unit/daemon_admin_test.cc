// What administrators see and do: status, sessions, timeouts, ending a session, drain, stop.
#include <gmock/gmock.h>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "daemon/core/user_table.h"
#include "tests/support/core_fixture.h"
#include "tests/support/one_card.h"

namespace ttfd::daemon_admin_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DaemonAdmin : public CoreTest {};

TEST_F(DaemonAdmin, StatusCounts) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
               InlineWrite(1, 0, Pattern(1024)), Launch(3), Launch(3), Read(1, 0, 512));
  client->Run();
  const StatusReply status = core->admin().GetStatus();
  EXPECT_EQ(status.state, DaemonState::kReady);
  EXPECT_EQ(status.sessions, 1u);
  EXPECT_EQ(status.commands_completed, 7u);
  EXPECT_EQ(status.devices[0].stats.launches, 2u);
  EXPECT_EQ(status.devices[0].stats.bytes_written, 1024u);
  EXPECT_EQ(status.devices[0].stats.bytes_read, 512u);
  ASSERT_THAT(status.devices[0].memory, SizeIs(2));
  EXPECT_EQ(status.devices[0].memory[0].used_bytes, 4096u);
  EXPECT_EQ(status.devices[0].memory[0].total_bytes,
            uint64_t{behaviour.dram_banks} * behaviour.dram_bank_bytes);
}

TEST_F(DaemonAdmin, HartsAreReadWhenAskedForUnlessTheLastReadingIsYoung) {
  Start();
  const auto read = [this] {
    core->admin().GetStatus();
    core->RunOnce();
    return core->admin().GetStatus().devices[0].card.number;
  };
  EXPECT_EQ(core->admin().GetStatus().devices[0].card.number, 0u) << "not read yet";
  EXPECT_EQ(core->admin().GetStatus().devices[0].card.wanted, 1u);
  EXPECT_EQ(read(), 1u) << "three requests, one reading";
  EXPECT_THAT(core->admin().GetStatus().devices[0].card.harts, SizeIs(2));
  clock.Advance(PublishedReading::kPeriod - std::chrono::milliseconds(1));
  EXPECT_EQ(read(), 1u);
  EXPECT_EQ(core->admin().GetStatus().devices[0].card.age_ms, 49u);
  EXPECT_EQ(core->admin().GetStatus().devices[0].card.wanted, 1u);
  clock.Advance(std::chrono::milliseconds(1));
  const StatusReply old = core->admin().GetStatus();
  EXPECT_EQ(old.devices[0].card.number, 1u) << "until it is read";
  EXPECT_EQ(old.devices[0].card.wanted, 2u);
  EXPECT_EQ(old.devices[0].card.age_ms, 50u);
  EXPECT_EQ(read(), 2u);
  EXPECT_EQ(card->reports, 2);
  EXPECT_EQ(core->admin().GetStatus().devices[0].card.age_ms, 0u);
  clock.Advance(std::chrono::seconds(10));
  core->RunOnce();
  EXPECT_EQ(card->reports, 2) << "not unless it is asked for";
}

TEST_F(DaemonAdmin, ARequestWakesTheIdleDeviceThreadAndManyReadTheCardRarely) {
  auto own = std::make_unique<FakeCard>(behaviour);
  const FakeCard& counted = *own;
  options.thread.idle_tick = std::chrono::hours(1);
  const auto running = *Daemon::Create(OneCard(std::move(own)), SteadyClock(), options);
  ASSERT_TRUE(running->Start().ok());
  const TimePoint began = SteadyClock().Now();
  while (running->admin().GetStatus().devices[0].card.number == 0 &&
         SteadyClock().Now() - began < std::chrono::seconds(30)) {
    std::this_thread::yield();
  }
  EXPECT_EQ(running->admin().GetStatus().devices[0].card.number, 1u);
  for (int i = 0; i < 3000; ++i) running->admin().GetStatus();
  const int reports = counted.reports;
  const auto periods = (SteadyClock().Now() - began) / PublishedReading::kPeriod;
  EXPECT_TRUE(running->Stop(SteadyClock().Now() + std::chrono::seconds(10)).ok());
  EXPECT_LE(reports, 1 + periods);
}

TEST_F(DaemonAdmin, BusyTimeHasThatOfWhatRuns) {
  Start();
  auto client = Connect();
  card->hold = true;
  client->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  for (int i = 0; i < 10; ++i) core->RunOnce();
  const auto busy_ns = [this] {
    core->admin().GetStatus();
    core->RunOnce();
    return core->admin().GetStatus().devices[0].hardware_queues[0].device_ns;
  };
  const uint64_t before = busy_ns();
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(busy_ns() - before, 1'000'000'000u);
  card->hold = false;
  client->Run();
  EXPECT_EQ(busy_ns() - before, 1'000'000'000u) << "not twice";
}

TEST_F(DaemonAdmin, OneUserIsTheFirstBesidesRootWhoseSessionIsMade) {
  options.identity.one_user = true;
  Start();
  const auto open = [this](uint32_t uid, const HelloRequest& hello) {
    return TestClient(*core).Open(hello, uid);
  };
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "test";
  HelloRequest unknown_lease = hello;
  unknown_lease.attach = AttachKind::kLeaseToken;
  EXPECT_FALSE(open(1001, unknown_lease).ok());
  EXPECT_TRUE(open(0, hello).ok());
  EXPECT_TRUE(open(1002, hello).ok());
  const Status other = open(1001, hello);
  EXPECT_EQ(other.code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(PayloadOf(other, kReasonPayload), reason::kPermissionDenied);
  EXPECT_THAT(std::string(StatusMessage(other)), HasSubstr("serves user user1002 already"));
  EXPECT_TRUE(open(0, hello).ok());
  EXPECT_TRUE(open(1002, hello).ok());
  HelloRequest lease = hello;
  lease.attach = AttachKind::kLease;
  EXPECT_EQ(open(1001, lease).code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(core->admin().ListLeases(), IsEmpty()) << "a refused session leaves no lease behind";
}

TEST(UserTable, ComparesCertificatesByName) {
  UserTable users(/*one_user=*/true);
  PeerIdentity peer;
  peer.certificate = "alice";  // whose number says nothing
  EXPECT_TRUE(users.Check(peer).ok());
  users.Admit(peer, "alice");
  peer.uid = 7;
  EXPECT_TRUE(users.Check(peer).ok());
  for (const char* const other : {"bob", "root"}) {
    peer.certificate = other;
    peer.uid = 0;
    EXPECT_FALSE(users.Check(peer).ok());
  }
  peer.certificate = "";
  EXPECT_TRUE(users.Check(peer).ok());
}

TEST_F(DaemonAdmin, SessionsAreListedWithWhatTheyHold) {
  Start();
  auto client = Connect(1234);
  card->clock = &clock;
  card->cost = [](const Command&) { return Duration(std::chrono::microseconds(100)); };
  client->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)), BarrierRequest{});
  clock.Advance(std::chrono::milliseconds(5));
  client->Run();
  const auto sessions = core->admin().ListSessions();
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].client_name, "test");
  EXPECT_EQ(sessions[0].user, "user1234");
  EXPECT_EQ(sessions[0].pid, 42u);
  EXPECT_EQ(sessions[0].state, SessionState::kActive);
  EXPECT_EQ(sessions[0].handles, 1u);
  EXPECT_EQ(sessions[0].dram_bytes, 4096u);
  EXPECT_GE(sessions[0].connected_ms, 5u);
  EXPECT_GE(sessions[0].device_ns, 90'000u);
  EXPECT_EQ(sessions[0].bytes_written, 64u);
  EXPECT_EQ(sessions[0].launches, 0u);
  EXPECT_EQ(sessions[0].waits.count, 1u)
      << "neither the barrier nor untouched memory needs the card";
  EXPECT_GE(sessions[0].waits.p50_ns, 5'000'000u);
  EXPECT_LE(sessions[0].waits.p50_ns, 5'400'000u);
  EXPECT_EQ(sessions[0].waits.max_ns, sessions[0].waits.total_ns);
  ASSERT_THAT(sessions[0].submitted, SizeIs(1));
  EXPECT_EQ(sessions[0].submitted[0], (QueuePosition{0, 3}));
  EXPECT_EQ(sessions[0].completed[0], (QueuePosition{0, 3}));
}

TEST_F(DaemonAdmin, SessionsSayWhatTheyWaitFor) {
  behaviour.dram_bank_bytes = 16 << 20;
  options.limits.read_bytes = 1 << 20;
  Start();
  const auto wait_of = [this](const TestClient& client) {
    for (int i = 0; i < 100; ++i) core->RunOnce();  // a card that holds never has nothing to do
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == client.id()) return info.waits_for;
    }
    ADD_FAILURE() << "no session " << client.id();
    return SessionWait::kNone;
  };
  auto reader = Connect();
  EXPECT_EQ(wait_of(*reader), SessionWait::kNone);
  reader->Send(Allocate(1, 8 << 20), Read(1, 0, 8 << 20));
  EXPECT_EQ(wait_of(*reader), SessionWait::kOutput) << "to continue the read";
  reader->Run();
  EXPECT_EQ(wait_of(*reader), SessionWait::kNone);
  reader->Send(BarrierRequest{});
  EXPECT_EQ(wait_of(*reader), SessionWait::kOutput) << "progress";
  reader->Run();
  reader->Finish();
  EXPECT_EQ(wait_of(*reader), SessionWait::kOutput) << "to acknowledge";

  auto writer = Connect();
  writer->Send(Allocate(1, 4096), StreamedWrite(1, 0, 4096));
  EXPECT_EQ(wait_of(*writer), SessionWait::kData);
  writer->Run();
  EXPECT_EQ(wait_of(*writer), SessionWait::kData);
  card->hold = true;
  ASSERT_TRUE(writer->Supply(0, 2, 0, Pattern(4096)).ok());
  EXPECT_EQ(wait_of(*writer), SessionWait::kCommands);
  ASSERT_TRUE(core->admin().TerminateSession(writer->id(), "").ok());
  EXPECT_EQ(wait_of(*writer), SessionWait::kCommands) << "which the card has not completed";
  card->hold = false;
}

TEST_F(DaemonAdmin, TimeoutsOfASessionOverrideTheDaemons) {
  Start();
  auto client = Connect();
  const uint64_t id = client->session().welcome().session;
  TimeoutsReply change;
  change.kernel_ms = 7;
  ASSERT_TRUE(core->admin().SetTimeouts(id, change).ok());
  EXPECT_EQ(core->admin().GetTimeouts(id)->kernel_ms, 7u);
  EXPECT_EQ(core->admin().GetTimeouts(id)->start_ms, options.timeouts.start_ms)
      << "0 leaves unchanged";
  EXPECT_EQ(core->admin().GetTimeouts(0)->kernel_ms, options.timeouts.kernel_ms);
  change = {};
  change.operation_ms = 3;
  EXPECT_EQ(core->admin().SetTimeouts(id, change)->operation_ms, 3u);
  EXPECT_EQ(core->admin().GetTimeouts(id)->kernel_ms, 7u);
  EXPECT_EQ(core->admin().GetTimeouts(0)->operation_ms, options.timeouts.operation_ms);
  change.operation_ms = 4;
  EXPECT_EQ(core->admin().SetTimeouts(0, change)->operation_ms, 4u);
  EXPECT_EQ(core->admin().GetTimeouts(id)->operation_ms, 3u) << "its own stays";
  EXPECT_EQ(core->admin().GetTimeouts(999).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(core->admin().SetTimeouts(999, change).status().code(), StatusCode::kNotFound);
}

TEST_F(DaemonAdmin, AnEndedSessionLearnsWhyAndFreesEverything) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(64)));
  const int before = client->ready;
  client->Take();
  ASSERT_TRUE(
      core->admin().TerminateSession(client->session().welcome().session, "maintenance").ok());
  core->HandleAllInput();
  EXPECT_GT(client->ready, before) << "the call is woken";
  Status status;
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("maintenance"));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
  EXPECT_EQ(core->admin().TerminateSession(77, "").code(), StatusCode::kNotFound);
}

TEST_F(DaemonAdmin, ADrainFinishesWhatWasSentAndRefusesTheRest) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  client->Send(Launch(3));
  core->RunOnce();
  std::vector<ProgressStep> steps;
  bool done = false;
  core->admin().Drain(1000, [&](const ProgressReply& progress) {
    steps.push_back(progress.step);
    done = progress.done;
  });
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kDraining);
  client->Take();
  client->Send(BarrierRequest{});
  TestClient late(*core);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  EXPECT_EQ(late.Open(hello).code(), StatusCode::kUnavailable);
  core->RunOnce();
  EXPECT_FALSE(done);
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(4).code, StatusCode::kOk) << "it was sent before";
  EXPECT_EQ(client->ErrorOf(5).reason, "DRAINING");
  Status status;
  ASSERT_TRUE(client->Ended(&status)) << "an idle session ends by itself";
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  RunAll();
  EXPECT_TRUE(done);
  EXPECT_EQ(steps.back(), ProgressStep::kDrained);
}

TEST_F(DaemonAdmin, ADrainEndsWhatIsLeftWhenItsTimeIsUp) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), StreamedWrite(1, 0, 4096));
  bool done = false;
  core->admin().Drain(100, [&](const ProgressReply& progress) { done = progress.done; });
  client->Run();
  EXPECT_FALSE(done);
  clock.Advance(std::chrono::milliseconds(101));
  client->Run();
  EXPECT_TRUE(done);
  Status status;
  EXPECT_TRUE(client->Ended(&status));
}

class DaemonDrain : public DaemonAdmin {
 protected:
  // Its reports are kept.
  void Drain(uint32_t within_ms) {
    core->admin().Drain(within_ms,
                        [this](const ProgressReply& progress) { reports.push_back(progress); });
    core->HandleAllInput();
  }
  static std::vector<uint64_t> IdsOf(const ProgressReply& report) {
    std::vector<uint64_t> ids;
    for (const SessionInfoReply& info : report.sessions) ids.push_back(info.session);
    return ids;
  }

  std::vector<ProgressReply> reports;
};

TEST_F(DaemonDrain, ReportsListTheSessionsLeftWithWhatTheyHoldAndWaitFor) {
  Start();
  auto runs = Connect(1001), sends = Connect(1002), idle = Connect(1003), reads = Connect(1004);
  runs->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
  runs->Run();
  card->hold = true;
  runs->Send(Launch(3), Launch(3));
  sends->Send(Allocate(1, 2048), StreamedWrite(1, 0, 2048));
  reads->Send(BarrierRequest{});
  core->RunOnce();
  Drain(1000);
  ASSERT_THAT(reports, SizeIs(1)) << "at once";
  EXPECT_EQ(reports[0].step, ProgressStep::kWaiting);
  EXPECT_EQ(reports[0].left, 3u);
  ASSERT_THAT(IdsOf(reports[0]), ElementsAre(runs->id(), sends->id(), reads->id()));
  const std::vector<SessionInfoReply>& sessions = reports[0].sessions;
  EXPECT_EQ(sessions[0].user, "user1001");
  EXPECT_EQ(sessions[0].client_name, "test");
  EXPECT_EQ(sessions[0].pid, 42u);
  EXPECT_EQ(sessions[0].state, SessionState::kActive);
  EXPECT_EQ(sessions[0].dram_bytes, 4096u);
  EXPECT_EQ(sessions[0].handles, 3u);
  EXPECT_THAT(sessions[0].submitted, ElementsAre(QueuePosition{0, 5}));
  EXPECT_THAT(sessions[0].completed, ElementsAre(QueuePosition{0, 3}));
  EXPECT_EQ(sessions[0].waits_for, SessionWait::kCommands);
  EXPECT_EQ(sessions[1].waits_for, SessionWait::kData);
  EXPECT_EQ(sessions[2].waits_for, SessionWait::kOutput);

  card->hold = false;
  runs->Run();
  ASSERT_THAT(reports, SizeIs(2)) << "when one has ended";
  EXPECT_THAT(IdsOf(reports[1]), ElementsAre(sends->id(), reads->id()));
  EXPECT_EQ(reports[1].left, 2u);

  clock.Advance(std::chrono::milliseconds(1001));
  RunAll();
  ASSERT_THAT(reports, SizeIs(3));
  EXPECT_EQ(reports[2].step, ProgressStep::kCutShort);
  EXPECT_TRUE(reports[2].done);
  ASSERT_THAT(IdsOf(reports[2]), ElementsAre(sends->id(), reads->id()));
  EXPECT_EQ(reports[2].sessions[0].state, SessionState::kActive) << "as before they were ended";
  EXPECT_EQ(reports[2].sessions[0].waits_for, SessionWait::kData);
}

TEST_F(DaemonDrain, AReportListsTheFirstHundredAndCountsAll) {
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 103; ++i) {
    clients.push_back(Connect());
    clients.back()->Send(BarrierRequest{});
  }
  Drain(1000);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].left, 103u);
  ASSERT_THAT(reports[0].sessions, SizeIs(100));
  EXPECT_EQ(reports[0].sessions.front().session, clients[0]->id());
  EXPECT_EQ(reports[0].sessions.back().session, clients[99]->id());
}

TEST_F(DaemonAdmin, AStopShutsTheCardDown) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096));
  ASSERT_TRUE(core->Stop(clock.Now() + std::chrono::seconds(1)).ok());
  EXPECT_EQ(card->shut_down_within.total, std::chrono::seconds(1))
      << "what is left of the deadline";
  Status status;
  EXPECT_TRUE(client->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
}

TEST_F(DaemonAdmin, AnotherDeviceCannotBeReset) {
  Start();
  const Status refused = core->admin().ResetDevice(3, [](const Status&) { FAIL() << "refused"; });
  EXPECT_EQ(refused.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(StatusMessage(refused)), HasSubstr("no device 3"));
  EXPECT_EQ(card->boots, 1);
}

}  // namespace
}  // namespace ttfd::daemon_admin_test
