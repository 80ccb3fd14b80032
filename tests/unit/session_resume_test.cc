// A session outlives its call: what was told and not received is told again, once; what was sent and did not
// arrive can be sent again; nobody else can take it over; it is not kept for ever.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "daemon/session/process.h"
#include "daemon/session/secret.h"
#include "daemon/session/status_reason.h"
#include "tests/support/core_fixture.h"
#include "tests/support/resuming_client.h"

namespace ttfd {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kGraceMs = 5000;
constexpr uint64_t kChunk = 48 << 10;
constexpr uint64_t kLarge = 2 * kChunk + (40 << 10);

class SessionResume : public CoreTest {
 protected:
  void Prepare() {
    options.windows.read_bytes = 260 << 10;  // a little more than one slice of a read
    Start();
    card->completes_per_poll = 1;
    card->on_launch = [this](const LaunchCommand&) {
      KernelPrint line;
      line.kernel_name = "kernel";
      line.text = "launch " + std::to_string(++launches_);
      card->print({0, card->completed(0) + 1}, line);
      return OkStatus();
    };
  }

  std::unique_ptr<ResumingClient> Resuming(uint32_t grace_ms = kGraceMs) {
    auto client = std::make_unique<ResumingClient>(*core, grace_ms);
    const Status status = client->Open();
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    return client;
  }

  // Until nothing moves, acknowledging on the way.
  void Run(ResumingClient& client) {
    for (int quiet = 0; quiet < 2;) {
      const bool more = core->RunOnce();
      bool any = false;
      while (client.Take()) any = true;
      client.Acknowledge();
      quiet = more || any ? 0 : quiet + 1;
    }
  }

  int launches_ = 0;
};

BatchRequest Batch(uint32_t queue, uint64_t first, std::vector<Request> commands,
                   uint64_t clears_error = 0, std::vector<QueuePosition> waits = {}) {
  BatchRequest batch;
  batch.queue = queue;
  batch.first_value = first;
  batch.commands = std::move(commands);
  batch.clears_error = clears_error;
  batch.waits = std::move(waits);
  return batch;
}

// Every kind of command, data in both directions, an error with what follows from it, a cancellation.
std::vector<ResumingClient::Message> Scenario() {
  const std::string bytes = Pattern(kLarge);
  LoadKernelRequest streamed;
  streamed.handle = 4;
  streamed.size = 9;
  streamed.streamed = true;
  RecordTraceRequest trace;
  trace.handle = 6;
  trace.launches = {Launch(5), Launch(5)};
  return {
      Batch(0, 1, {Allocate(1, kLarge), InlineKernel(2), StreamedWrite(1, 0, kLarge)}),
      DataChunk{0, 3, 0, bytes.substr(0, kChunk)},
      DataChunk{0, 3, kChunk, bytes.substr(kChunk, kChunk)},
      Batch(0, 4, {Read(1, 0, kLarge), streamed, OneKernelProgram(5, 4)}),
      DataChunk{0, 3, 2 * kChunk, bytes.substr(2 * kChunk)},
      DataChunk{0, 5, 0, "elf "},
      DataChunk{0, 5, 4, "again"},
      Batch(0, 7, {Launch(5), TransferQueue(1), Launch(5)}),
      Batch(1, 1, {FillRequest{1, 0, 4096, 0x01020304}, Read(1, 0, 4096)}, 0, {{0, 9}}),
      Batch(0, 10, {Read(99, 0, 16), Launch(5), Allocate(7, 64)}),
      Batch(0, 13, {BarrierRequest{}, FreeRequest{{99}}}),
      Batch(0, 15, {trace, ReplayTraceRequest{6, {}}, Read(1, 1024, 3000)}, 10),
      Batch(1, 3, {StreamedWrite(1, 0, 64), BarrierRequest{}}),
      CancelRequest{{1, 3}, 4},
      Batch(1, 5, {Read(1, 0, 64)}, 3),
      Batch(0, 18,
            {FreeRequest{{1, 2, 5}}, Allocate(1, 2048), InlineWrite(1, 0, Pattern(2048, 9)),
             Read(1, 0, 2048), BarrierRequest{}}),
  };
}

TEST_F(SessionResume, ACutAfterAnyMessageChangesNothing) {
  // How the connection ends at event `cut`: the message did not arrive, or arrived and nothing after it; and the
  // daemon goes on meanwhile, or not.
  Prepare();
  const auto play = [this](size_t cut, bool lost, bool meanwhile, size_t* events) {
    launches_ = 0;
    auto client = Resuming();
    size_t event = 0;
    const auto after = [&](ResumingClient& one) {
      if (event++ != cut) return;
      one.Lose();
      if (meanwhile) RunAll();
      const Status status = one.Open();
      EXPECT_TRUE(status.ok()) << StatusMessage(status);
    };
    for (ResumingClient::Message& message : Scenario()) {
      if (event == cut && lost) client->Lose();
      const Status status = client->Send(std::move(message));
      EXPECT_TRUE(status.ok()) << StatusMessage(status);
      after(*client);
      for (bool any = true; any;) {
        any = core->RunOnce();
        while (client->Take(event == cut && lost)) {
          any = true;
          after(*client);
        }
        client->Acknowledge();
      }
    }
    Run(*client);
    *events = event;
    client->session().FinishInput(false);
    Run(*client);
    Status end;
    EXPECT_TRUE(client->session().finished(&end));
    EXPECT_TRUE(end.ok()) << StatusMessage(end);
    EXPECT_THAT(core->ListSessions(), IsEmpty());
    return client->seen();
  };
  size_t events = 0;
  const ResumingClient::Seen whole = play(~size_t{0}, false, false, &events);
  EXPECT_EQ(whole.progress.at(0), 22u);
  EXPECT_EQ(whole.data.at({0, 4}), Pattern(kLarge));
  EXPECT_EQ(whole.errors.at({0, 10}), "UNKNOWN_HANDLE 0:0");
  EXPECT_THAT(whole.prints, SizeIs(4));
  EXPECT_GE(events, 30u);
  size_t points = 0;
  for (size_t cut = 0; cut < events; ++cut) {
    for (const bool lost : {false, true}) {
      const bool meanwhile = ++points % 4 < 2;
      SCOPED_TRACE(
          fmt::format("cut at {} of {}, lost {}, meanwhile {}", cut, events, lost, meanwhile));
      size_t ignored = 0;
      EXPECT_TRUE(play(cut, lost, meanwhile, &ignored) == whole);
      EXPECT_EQ(Memory("dram").used_bytes, 0u);
      if (HasFailure()) return;
    }
  }
  RecordProperty("points", static_cast<int>(points));
}

// Payload is said again that the daemon has had and threw away, and payload it never had is not said again once its
// command has ended: neither may be counted by one side only.
TEST_F(SessionResume, CreditAgreesAfterEveryCutWhateverBecameOfThePayload) {
  constexpr uint64_t kWindow = 64 << 10;
  constexpr uint64_t kPiece = 8 << 10;
  options.windows.payload_bytes = kWindow;
  Prepare();
  auto client = Resuming();
  card->hold = true;
  const auto expect_agreement = [&](const char* when) {
    while (client->Take()) continue;
    EXPECT_LE(client->credit_left(), kWindow) << when;
    EXPECT_GT(client->credit_left(), kWindow * 3 / 4) << when << ": it is told each quarter";
  };
  // One write is refused while a launch holds up its queue, one is on its way, one ends with its payload lost.
  ASSERT_TRUE(client
                  ->Send(Batch(0, 1,
                               {Allocate(1, kLarge), InlineKernel(2), OneKernelProgram(3, 2),
                                Launch(3), Read(99, 0, 16), StreamedWrite(1, 0, 4 * kPiece)}))
                  .ok());
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(client->Send(DataChunk{0, 6, i * kPiece, Pattern(kPiece)}).ok());
  }
  expect_agreement("refused payload");
  for (int cut = 0; cut < 3; ++cut) {
    client->Lose();
    ASSERT_TRUE(client->Open().ok());
    expect_agreement("refused payload that comes again");
  }
  client->Lose();
  ASSERT_TRUE(client->Send(DataChunk{0, 6, 0, Pattern(kPiece)}).ok()) << "and is lost";
  card->hold = false;
  RunAll();
  ASSERT_TRUE(client->Open(/*resend=*/false).ok());
  expect_agreement("payload that was lost and is not sent again");
  ASSERT_TRUE(client->Send(Batch(0, 7, {StreamedWrite(1, 0, 4 * kPiece)}, 5)).ok());
  ASSERT_TRUE(client->Send(DataChunk{0, 7, 0, Pattern(kPiece)}).ok());
  client->Lose();
  ASSERT_TRUE(client->Open().ok());
  for (uint64_t i = 1; i < 4; ++i) {
    ASSERT_TRUE(client->Send(DataChunk{0, 7, i * kPiece, Pattern(kPiece)}).ok());
  }
  Run(*client);
  expect_agreement("payload of which the daemon had a part");
  EXPECT_EQ(client->seen().progress.at(0), 7u);
}

TEST_F(SessionResume, CreditOfTheOldConnectionIsNotToldOnTheNewOne) {
  constexpr uint64_t kWindow = 64 << 10;
  options.windows.payload_bytes = kWindow;
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, kWindow)})).ok());
  for (uint64_t value = 2; value < 8; ++value) {
    ASSERT_TRUE(
        client->Send(Batch(0, value, {InlineWrite(1, 0, std::string(kWindow / 2, 'x'))})).ok());
    RunAll();  // what it is told nobody takes
  }
  client->Lose();
  ASSERT_TRUE(client->Open(/*resend=*/false).ok());
  while (client->Take()) continue;
  EXPECT_EQ(client->seen().progress.at(0), 7u);
  EXPECT_LE(client->credit_left(), kWindow);
}

TEST_F(SessionResume, WhoHasUsedUpItsCreditIsHeardWhereAReadWaitsForWhatItSays) {
  options.windows.commands = 6;
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 1 << 20)})).ok());
  RunAll();
  std::vector<Request> commands = {Read(1, 0, 1 << 20)};
  while (commands.size() < options.windows.commands) commands.push_back(BarrierRequest{});
  ASSERT_TRUE(client->Send(Batch(0, 2, std::move(commands))).ok());
  for (int i = 0; i < 100; ++i) {
    core->RunOnce();
    client->Take();
  }
  EXPECT_LT(client->seen().data.at({0, 2}).size(), 1u << 20) << "the rest waits";
  EXPECT_TRUE(client->session().WantsInput());
  Run(*client);
  EXPECT_EQ(client->seen().progress.at(0), 7u);
}

TEST_F(SessionResume, WorkGoesOnWhileTheClientIsAway) {
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(
      client->Send(Batch(0, 1, {Allocate(1, 64), InlineWrite(1, 0, Pattern(64)), Read(1, 0, 64)}))
          .ok());
  client->Lose();
  EXPECT_EQ(core->ListSessions().at(0).state, "detached");
  RunAll();
  ASSERT_TRUE(client->Open(false).ok());
  EXPECT_EQ(client->welcome().accepted, std::vector<QueuePosition>({{0, 3}}));
  EXPECT_EQ(core->ListSessions().at(0).state, "active");
  Run(*client);
  EXPECT_EQ(client->seen().data.at({0, 3}), Pattern(64));
}

TEST_F(SessionResume, OnlyTheSameUserWithTheTokenTakesASessionOver) {
  Prepare();
  auto client = Resuming();
  const WelcomeReply welcome = client->welcome();
  client->Lose();
  EXPECT_EQ(client->Open(true, 1001).code(), StatusCode::kNotFound) << "another user";
  client->welcome().token.back() ^= 1;
  const Status wrong = client->Open();
  EXPECT_EQ(PayloadOf(wrong, kReasonPayload), "SESSION_LOST");
  client->welcome().token.clear();
  EXPECT_EQ(client->Open().code(), StatusCode::kNotFound);
  client->welcome().session = 77;
  EXPECT_EQ(StatusMessage(client->Open()).substr(0, 10), "session 77") << "the same answer";
  client->welcome() = welcome;
  EXPECT_TRUE(client->Open().ok()) << "none of this has done it harm";
}

TEST_F(SessionResume, ATokenIsUsedUpOnceTheNextHasArrived) {
  Prepare();
  auto client = Resuming();
  const std::string first = client->welcome().token;
  client->Lose();
  ASSERT_TRUE(client->Open().ok());
  EXPECT_NE(client->welcome().token, first);
  // The Welcome was lost: the client knows the first token only.
  client->Lose();
  client->welcome().token = first;
  ASSERT_TRUE(client->Open().ok());
  ASSERT_TRUE(client->Send(Batch(0, 1, {BarrierRequest{}})).ok());
  client->Lose();
  client->welcome().token = first;
  EXPECT_EQ(client->Open().code(), StatusCode::kNotFound);
}

TEST_F(SessionResume, TokensAreRandomForEverySessionAndEveryResume) {
  auto created = DaemonCore::Create(std::make_unique<FakeDispatcher>(behaviour), clock, {});
  ASSERT_TRUE(created.ok() && (*created)->Boot().ok());
  std::set<std::string> tokens;
  ResumingClient first(**created, kGraceMs);
  ResumingClient second(**created, kGraceMs);
  for (int i = 0; i < 100; ++i) {
    for (ResumingClient* client : {&first, &second}) {
      ASSERT_TRUE(client->Open().ok());
      EXPECT_EQ(client->welcome().token.size(), 16u);
      tokens.insert(client->welcome().token);
      client->Lose();
    }
  }
  EXPECT_THAT(tokens, SizeIs(200));
}

TEST_F(SessionResume, WithoutRandomNumbersNothingIsResumed) {
  options.random_bytes = [](size_t) { return std::string(); };
  Prepare();
  auto client = Resuming();
  client->Lose();
  EXPECT_EQ(client->Open().code(), StatusCode::kNotFound) << "an empty token is nobody's";
}

// How long it takes tells nothing: libcrypto compares all of it.
TEST(SameSecret, IsAllOrNothing) {
  EXPECT_TRUE(SameSecret("0123456789abcdef", "0123456789abcdef"));
  for (size_t i = 0; i < 16; ++i) {
    std::string other = "0123456789abcdef";
    other[i] ^= 1;
    EXPECT_FALSE(SameSecret(other, "0123456789abcdef")) << i;
  }
  EXPECT_FALSE(SameSecret("0123456789abcde", "0123456789abcdef"));
  EXPECT_FALSE(SameSecret("", "")) << "no secret is not one that everybody knows";
}

TEST_F(SessionResume, TheCallBeforeIsEnded) {
  Prepare();
  auto client = Resuming();
  const std::shared_ptr<ClientSession> before = client->TakeSession();
  ASSERT_TRUE(client->Open().ok());
  EXPECT_EQ(before->Submit(Batch(0, 1, {BarrierRequest{}})).code(), StatusCode::kAborted);
  EXPECT_TRUE(before->TakeOutput(1000).empty());
  Status status;
  ASSERT_TRUE(before->finished(&status));
  EXPECT_THAT(StatusMessage(status), HasSubstr("goes on with another call"));
  before->Abandon(true);
  ASSERT_TRUE(client->Send(Batch(0, 1, {BarrierRequest{}})).ok());
  Run(*client);
  EXPECT_EQ(client->seen().progress.at(0), 1u) << "the new one is not harmed by its end";
}

TEST_F(SessionResume, NothingIsKeptBeyondTheGraceTime) {
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 1 << 20)})).ok());
  Run(*client);
  EXPECT_GT(Memory("dram").used_bytes, 0u);
  client->Lose();
  clock.Advance(std::chrono::milliseconds(kGraceMs - 1));
  RunAll();
  EXPECT_THAT(core->ListSessions(), SizeIs(1));
  clock.Advance(std::chrono::milliseconds(1));
  RunAll();
  EXPECT_THAT(core->ListSessions(), IsEmpty());
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
  EXPECT_EQ(client->Open().code(), StatusCode::kNotFound);
}

TEST_F(SessionResume, ASessionWhoseProcessHasEndedIsNotKept) {
  uint32_t ended = 0;
  options.process_ended = [&ended](uint32_t pid) { return pid == ended; };
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 1 << 20)})).ok());
  Run(*client);
  client->Lose();
  clock.Advance(std::chrono::milliseconds(200));
  RunAll();
  EXPECT_THAT(core->ListSessions(), SizeIs(1)) << "it lives and may come back";
  ended = ResumingClient::kPid;
  clock.Advance(std::chrono::milliseconds(200));
  RunAll();
  EXPECT_THAT(core->ListSessions(), IsEmpty());
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

TEST(ProcessHasEnded, AlsoBeforeAnybodyHasWaitedForIt) {
  int block[2];
  ASSERT_EQ(pipe(block), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    close(block[1]);
    static_cast<void>(!read(block[0], &byte, 1));
    _exit(0);
  }
  close(block[0]);
  EXPECT_FALSE(ProcessHasEnded(static_cast<uint32_t>(child)));
  EXPECT_FALSE(ProcessHasEnded(0));
  EXPECT_FALSE(ProcessHasEnded(1)) << "it belongs to somebody else";
  close(block[1]);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(ProcessHasEnded(static_cast<uint32_t>(child)));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(ProcessHasEnded(static_cast<uint32_t>(child)));
}

TEST_F(SessionResume, WithoutAGraceTimeALostConnectionEndsTheSession) {
  Prepare();
  auto client = Resuming(0);
  client->Lose();
  EXPECT_THAT(core->ListSessions(), IsEmpty());
}

TEST_F(SessionResume, AProtocolErrorAndAClientThatLeavesEndIt) {
  Prepare();
  auto client = Resuming();
  EXPECT_FALSE(client->Send(Batch(0, 7, {BarrierRequest{}})).ok());
  client->TakeSession()->Abandon(/*lost=*/false);
  EXPECT_THAT(core->ListSessions(), IsEmpty());
  auto second = Resuming();
  card->hold = true;
  ASSERT_TRUE(second->Send(Batch(0, 1, {Allocate(1, 64), InlineWrite(1, 0, Pattern(64))})).ok());
  second->session().Leave();
  Status status;
  ASSERT_TRUE(second->session().finished(&status));
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  card->hold = false;
  RunAll();
  EXPECT_THAT(core->ListSessions(), IsEmpty());
}

TEST_F(SessionResume, AnEndWhileTheClientIsAwayFreesEverything) {
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 64)})).ok());
  Run(*client);
  client->Lose();
  ASSERT_TRUE(core->EndSession(client->welcome().session, "enough").ok());
  EXPECT_THAT(core->ListSessions(), IsEmpty());
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

TEST_F(SessionResume, ADrainWaitsForWorkAndNotForAClientThatIsAway) {
  Prepare();
  auto client = Resuming();
  card->hold = true;
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 64), InlineWrite(1, 0, Pattern(64))})).ok());
  client->Lose();
  bool done = false;
  core->Drain(1000, [&done](const std::string&, uint64_t, bool end) { done |= end; });
  for (int i = 0; i < 10; ++i) core->RunOnce();
  EXPECT_FALSE(done);
  card->hold = false;
  RunAll();
  EXPECT_TRUE(done);
}

TEST_F(SessionResume, OneThatDrainsCanBeResumedAndIsToldAgain) {
  Prepare();
  auto client = Resuming();
  card->hold = true;
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 64), InlineWrite(1, 0, Pattern(64))})).ok());
  core->Drain(1000, [](const std::string&, uint64_t, bool) {});
  while (client->Take()) continue;
  client->Lose();
  ASSERT_TRUE(client->Open().ok());
  EXPECT_TRUE(client->session().TakeOutput(1000).has_draining);
}

TEST_F(SessionResume, TheGraceTimeHasALimit) {
  Prepare();
  ResumingClient client(*core, options.limits.resume_grace_ms + 1);
  const Status status = client.Open();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(StatusMessage(status), HasSubstr("the limit resume_grace_ms is 300000"));
}

TEST_F(SessionResume, WhatANewSessionMayNotHaveIsNotAskedOfOneThatComesBack) {
  Prepare();
  auto client = Resuming();
  const WelcomeReply welcome = client->welcome();
  client.reset();
  core.reset();  // the daemon starts again, and allows less
  options.limits.resume_grace_ms = kGraceMs - 1;
  Prepare();
  ResumingClient late(*core, kGraceMs);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.resume_grace_ms = kGraceMs;
  hello.attach = AttachKind::kResume;
  hello.resume = {welcome.session, welcome.token, {}, 0};
  const auto resumed = core->Open({}, hello, &late);
  EXPECT_THAT(StatusMessage(resumed.status()), HasSubstr("what it had is gone"));
}

TEST_F(SessionResume, ReceiptsAreAtMostOneForEachCommandThatMayBeUnderWay) {
  options.windows.commands = 64;
  Prepare();
  auto client = Resuming();
  const auto position = [](uint64_t value) { return DataPosition{{0, value}, 1}; };
  ReceivedRequest received;
  for (uint64_t i = 0; i < 64; ++i) received.data.push_back(position(i));
  EXPECT_TRUE(client->session().Received(received).ok());
  for (uint64_t i = 0; i < 64; ++i) received.data.push_back(position(i));
  const Status status = client->session().Received(received);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(StatusMessage(status), HasSubstr("the limit commands_in_flight is 64, 128 in use"));
}

TEST_F(SessionResume, ReadsWaitForReceiptsAndNotForEver) {
  Prepare();
  auto client = Resuming();
  EXPECT_EQ(client->welcome().credit.read_bytes, 260u << 10);
  ASSERT_TRUE(client->Send(Batch(0, 1, {Allocate(1, 700 << 10), Read(1, 0, 700 << 10)})).ok());
  for (int i = 0; i < 100; ++i) {
    core->RunOnce();
    while (client->Take()) continue;
  }
  EXPECT_EQ(client->seen().data.at({0, 2}).size(), 256u << 10) << "the second slice finds no room";
  client->Acknowledge();
  for (int i = 0; i < 100; ++i) {
    core->RunOnce();
    while (client->Take()) continue;
  }
  EXPECT_EQ(client->seen().data.at({0, 2}).size(), 512u << 10);
  clock.Advance(std::chrono::milliseconds(options.timeouts.stalled_client_ms + 1));
  RunAll();
  Status status;
  ASSERT_TRUE(client->session().finished(&status));
  EXPECT_THAT(StatusMessage(status), HasSubstr("has not said that it received what it was told"));
}

TEST_F(SessionResume, TheEndWaitsUntilEverythingWasReceived) {
  Prepare();
  auto client = Resuming();
  ASSERT_TRUE(client->Send(Batch(0, 1, {BarrierRequest{}})).ok());
  client->session().FinishInput(false);
  RunAll();
  while (client->Take()) continue;
  Status status;
  EXPECT_FALSE(client->session().finished(&status)) << "the client may not know that 1 has ended";
  client->Lose();
  ASSERT_TRUE(client->Open().ok());
  while (client->Take()) continue;
  client->session().FinishInput(false);
  client->Acknowledge();
  EXPECT_TRUE(client->session().finished(&status));
}

TEST_F(SessionResume, AClientThatAcknowledgesNothingIsNotKeptFor) {
  options.windows.errors = 4;
  Prepare();
  auto client = Resuming();
  for (uint64_t value = 1; value <= 20; ++value) {
    ASSERT_TRUE(client->Send(Batch(0, value, {Read(99, 0, 16)}, value - 1)).ok());
    while (client->Take()) continue;
  }
  EXPECT_EQ(client->seen().errors.size(), 20u);
  client->Lose();
  EXPECT_THAT(core->ListSessions(), IsEmpty());
}

}  // namespace
}  // namespace ttfd
