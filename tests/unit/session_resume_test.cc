// A session that outlives its connection: who may resume it, how long it is kept, what its next connection finds.
// What was sent and may be lost is the transport's: rpc_resume_test.cc.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "daemon/api/status_reason.h"
#include "daemon/core/process.h"
#include "daemon/session/secret.h"
#include "tests/support/core_fixture.h"
#include "tests/support/one_card.h"

namespace ttfd::session_resume_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kTimeoutMs = 5000;
constexpr uint32_t kPid = 42;  // of a TestClient

class SessionResume : public CoreTest {
 protected:
  static HelloRequest Hello(uint32_t timeout_ms = kTimeoutMs) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    hello.reconnect_timeout_ms = timeout_ms;
    return hello;
  }
  std::unique_ptr<TestClient> Open(uint32_t timeout_ms = kTimeoutMs) {
    auto client = std::make_unique<TestClient>(*core);
    const Status status = client->Open(Hello(timeout_ms));
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    return client;
  }
  static std::string TokenOf(TestClient& client) { return client.session().welcome().token; }
  StatusOr<std::unique_ptr<TestClient>> Resume(uint64_t session, const std::string& token,
                                               uint32_t uid = 1000) {
    HelloRequest hello = Hello();
    hello.attach = AttachKind::kResume;
    hello.resume = {session, token};
    auto client = std::make_unique<TestClient>(*core);
    RETURN_IF_ERROR(client->Open(hello, uid));
    return client;
  }
  std::unique_ptr<TestClient> Resume(TestClient& before) {
    auto resumed = Resume(before.id(), TokenOf(before));
    EXPECT_TRUE(resumed.ok()) << resumed.status();
    return *std::move(resumed);
  }
};

TEST_F(SessionResume, Detached_CompletesItsCommands) {
  Start();
  auto client = Open();
  client->Send(Allocate(1, 64), InlineWrite(1, 0, Pattern(64)), Read(1, 0, 64));
  client->Abandon(/*lost=*/true);
  EXPECT_EQ(core->admin().ListSessions().at(0).state, SessionState::kDetached);
  RunAll();
  auto next = Resume(*client);
  core->HandleAllInput();
  EXPECT_EQ(core->admin().ListSessions().at(0).state, SessionState::kActive);
  next->Run();
  EXPECT_EQ(next->Data(3), Pattern(64));
  EXPECT_EQ(next->Progress(), 3u);
}

TEST_F(SessionResume, Finishing_ContinuesToFinish) {
  Start();
  auto client = Open();
  card->hold = true;
  client->Send(Allocate(1, 64), InlineWrite(1, 0, Pattern(64)));
  client->Finish();
  client->Abandon(/*lost=*/true);
  auto next = Resume(*client);
  BatchRequest batch;
  batch.first_value = 3;
  batch.commands.push_back(BarrierRequest{});
  EXPECT_EQ(next->Submit(batch).code(), StatusCode::kInvalidArgument) << "Finish was accepted";
  card->hold = false;
  next->Run();
  Status status;
  EXPECT_TRUE(next->Ended(&status));
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

// ---- Who may resume.

TEST_F(SessionResume, Token_OfTheSameUserOnly) {
  Start();
  auto client = Open();
  const std::string token = TokenOf(*client);
  client->Abandon(/*lost=*/true);
  EXPECT_EQ(Resume(client->id(), token, 1001).status().code(), StatusCode::kNotFound);
  std::string wrong = token;
  wrong.back() ^= 1;
  const Status status = Resume(client->id(), wrong).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(PayloadOf(status, kReasonPayload), "SESSION_LOST");
  EXPECT_EQ(Resume(client->id(), "").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(StatusMessage(Resume(77, token).status()).substr(0, 10), "session 77")
      << "the same answer";
  EXPECT_TRUE(Resume(client->id(), token).ok()) << "none of this has done it harm";
}

TEST_F(SessionResume, Token_IsReplacedOnceProvedReceived) {
  Start();
  auto client = Open();
  const std::string first = TokenOf(*client);
  client->Abandon(/*lost=*/true);
  auto second = Resume(*client);
  EXPECT_NE(TokenOf(*second), first);
  // The Welcome was lost: the client knows the first token only.
  second->Abandon(/*lost=*/true);
  auto third = Resume(client->id(), first);
  ASSERT_TRUE(third.ok());
  ASSERT_TRUE((*third)->Accept({}).ok());
  (*third)->Abandon(/*lost=*/true);
  EXPECT_EQ(Resume(client->id(), first).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(Resume(client->id(), TokenOf(**third)).ok());
}

TEST_F(SessionResume, Tokens_AreRandomEveryTime) {
  auto created = Daemon::Create(OneCard(std::make_unique<FakeCard>(behaviour)), clock, {});
  ASSERT_TRUE(created.ok() && (*created)->Boot().ok());
  core = *std::move(created);
  std::set<std::string> tokens;
  for (int session = 0; session < 2; ++session) {
    auto client = Open();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(TokenOf(*client).size(), 16u);
      tokens.insert(TokenOf(*client));
      client->Abandon(/*lost=*/true);
      client = Resume(*client);
    }
  }
  EXPECT_THAT(tokens, SizeIs(200));
}

TEST_F(SessionResume, WithoutRandomNumbers_NothingIsResumed) {
  options.random_bytes = [](size_t) { return std::string(); };
  Start();
  auto client = Open();
  client->Abandon(/*lost=*/true);
  EXPECT_EQ(Resume(client->id(), "").status().code(), StatusCode::kNotFound);
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
  EXPECT_FALSE(SameSecret("", "")) << "no secret is not one that everybody has";
}

TEST_F(SessionResume, ReplacedConnection_IsRefused) {
  Start();
  auto before = Open();
  const int ready = before->ready;
  auto after = Resume(*before);
  EXPECT_GT(before->ready, ready) << "it is notified";
  bool accepted = false;
  EXPECT_EQ(before->session().Accept({}, [&] { accepted = true; }).code(), StatusCode::kAborted);
  EXPECT_FALSE(accepted);
  after->Send(BarrierRequest{});
  EXPECT_TRUE(before->session().TakeOutput(1000).empty()) << "output is the new one's";
  Status status;
  ASSERT_TRUE(before->Ended(&status));
  EXPECT_THAT(StatusMessage(status), HasSubstr("resumed on another connection"));
  before->Abandon(/*lost=*/true);
  after->Run();
  EXPECT_EQ(after->Progress(), 1u) << "the new one is not harmed by its end";
}

// A new session may not have what a session had that began under other limits.
TEST_F(SessionResume, Resume_ChecksNoLimitsOfNewSessions) {
  Start();
  HelloRequest hello = Hello();
  hello.attach = AttachKind::kResume;
  hello.resume = {77, "token"};
  hello.weight = 5000;
  hello.client_name = std::string(1000, 'n');
  TestClient late(*core);
  EXPECT_THAT(StatusMessage(late.Open(hello)), HasSubstr("its objects are freed"));
}

// ---- How long it is kept.

TEST_F(SessionResume, ReconnectTimeout_EndsTheSession) {
  Start();
  auto client = Open();
  client->Send(Allocate(1, 1 << 20));
  client->Run();
  EXPECT_GT(Memory(MemoryKind::kDram).used_bytes, 0u);
  client->Abandon(/*lost=*/true);
  clock.Advance(std::chrono::milliseconds(kTimeoutMs - 1));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(1));
  clock.Advance(std::chrono::milliseconds(1));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
  EXPECT_EQ(Resume(client->id(), TokenOf(*client)).status().code(), StatusCode::kNotFound);
}

TEST_F(SessionResume, ReconnectTimeout_IsCutToItsLimit) {
  options.limits.reconnect_timeout_ms = 1000;
  Start();
  auto client = Open(60'000);
  client->Abandon(/*lost=*/true);
  clock.Advance(std::chrono::milliseconds(1000));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(SessionResume, ReconnectTimeout_IsThatOfTheNewestHello) {
  Start();
  auto client = Open();
  client->Abandon(/*lost=*/true);
  HelloRequest hello = Hello(0);
  hello.attach = AttachKind::kResume;
  hello.resume = {client->id(), TokenOf(*client)};
  TestClient last(*core);
  ASSERT_TRUE(last.Open(hello).ok());
  last.Abandon(/*lost=*/true);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty()) << "from now on it is not kept";
}

TEST_F(SessionResume, EndedProcess_EndsItsDetachedSession) {
  uint32_t ended = 0;
  options.process_ended = [&ended](uint32_t pid) { return pid == ended; };
  Start();
  auto client = Open();
  client->Send(Allocate(1, 1 << 20));
  client->Run();
  client->Abandon(/*lost=*/true);
  clock.Advance(std::chrono::milliseconds(200));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(1)) << "it lives and may come back";
  ended = kPid;
  clock.Advance(std::chrono::milliseconds(200));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
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

TEST_F(SessionResume, WithoutATimeout_LossEndsTheSession) {
  Start();
  auto client = Open(0);
  client->Abandon(/*lost=*/true);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(SessionResume, ProtocolErrorAndLeave_EndTheSession) {
  Start();
  auto client = Open();
  BatchRequest gap;
  gap.first_value = 7;
  gap.commands.push_back(BarrierRequest{});
  EXPECT_FALSE(client->Submit(gap).ok());
  client->Abandon(/*lost=*/false);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  auto second = Open();
  card->hold = true;
  second->Send(Allocate(1, 64), InlineWrite(1, 0, Pattern(64)));
  second->Leave();
  Status status;
  ASSERT_TRUE(second->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  card->hold = false;
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(SessionResume, Termination_FreesADetachedSession) {
  Start();
  auto client = Open();
  client->Send(Allocate(1, 64));
  client->Run();
  client->Abandon(/*lost=*/true);
  ASSERT_TRUE(core->admin().TerminateSession(client->id(), "enough").ok());
  core->HandleAllInput();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

TEST_F(SessionResume, Drain_WaitsForCommandsOfDetachedSessions) {
  Start();
  auto client = Open();
  card->hold = true;
  client->Send(Allocate(1, 64), InlineWrite(1, 0, Pattern(64)));
  client->Abandon(/*lost=*/true);
  bool done = false;
  core->admin().Drain(1000, [&done](const ProgressReply& progress) { done |= progress.done; });
  for (int i = 0; i < 10; ++i) core->RunOnce();
  EXPECT_FALSE(done);
  card->hold = false;
  RunAll();
  EXPECT_TRUE(done) << "and not for its client";
}

// ---- Acknowledgements, which the transport counts.

TEST_F(SessionResume, End_WaitsForAcks) {
  Start();
  auto client = Open();
  client->Send(BarrierRequest{});
  client->Finish();
  Status status;
  using Ending = SessionPort::Ending;
  EXPECT_EQ(client->session().CheckEnd(true, &status), Ending::kOpen) << "there is output";
  client->Run();
  EXPECT_EQ(client->session().CheckEnd(false, &status), Ending::kUnacknowledged);
  client->Abandon(/*lost=*/true);
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(1)) << "kept for what may have been lost";
  auto next = Resume(*client);
  EXPECT_EQ(next->session().CheckEnd(false, &status), Ending::kUnacknowledged);
  EXPECT_TRUE(next->Ended(&status));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(next->session().CheckEnd(true, &status), Ending::kEnded) << "and again";
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(SessionResume, WithoutATimeout_EndNeedsNoAcks) {
  Start();
  auto client = Open(0);
  client->Send(BarrierRequest{});
  client->Finish();
  client->Run();
  Status status;
  EXPECT_EQ(client->session().CheckEnd(false, &status), SessionPort::Ending::kOpen);
  core->HandleAllInput();
  EXPECT_EQ(client->session().CheckEnd(false, &status), SessionPort::Ending::kEnded);
  EXPECT_TRUE(status.ok());
}

TEST_F(SessionResume, AMessageThatCrossesTheEnd_IsNoError) {
  Start();
  auto client = Open();
  client->Send(BarrierRequest{});
  client->Finish();
  client->Run();
  Status status;
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_TRUE(client->Accept({}).ok()) << "an ack";
  MessageRequest leave;
  leave.leave = true;
  EXPECT_TRUE(client->Accept(leave).ok());
  BatchRequest batch;
  batch.first_value = 2;
  batch.commands.push_back(BarrierRequest{});
  EXPECT_EQ(client->Submit(batch).code(), StatusCode::kInvalidArgument) << "Finish was accepted";
}

}  // namespace
}  // namespace ttfd::session_resume_test
