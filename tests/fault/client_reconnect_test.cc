// libttfd finds its way back to its session, wherever the connection breaks: every command runs once, everything is
// told once. Where the session is gone, it says what is gone with it.
#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "tests/support/client_fixture.h"
#include "tests/support/cut_relay.h"

namespace ttfd::client {
namespace {

using ::testing::HasSubstr;
using ttfd::testing::ClientDaemon;
using ttfd::testing::CutRelay;
using ttfd::testing::Pattern;

constexpr uint32_t kPageBytes = 64;
constexpr size_t kLargeBytes = 300'000;
constexpr CoreRange kCore = {2, 1, 2, 1};

class ClientReconnect : public ttfd::testing::ClientFixture {
 protected:
  // What a client has seen in the end; the same however often the connection broke.
  struct Seen {
    std::vector<std::string> errors;
    std::vector<std::string> prints;
    std::map<uint32_t, uint64_t> progress;
    uint32_t sum = 0;
    bool operator==(const Seen&) const = default;
  };

  static ConnectOptions Options(const CutRelay& relay) {
    return {.address = relay.address(),
            .client_name = "reconnecting",
            .connect_timeout = std::chrono::seconds(10),
            .call_timeout = std::chrono::seconds(20),
            .batch_commands = 4};
  }

  static LaunchRequest Add(const Program& program, const Buffer& counter, uint32_t value) {
    return LaunchRequest(program)
        .Common(0, {0, kPageBytes, value, 0})
        .PerCore(0, 1, {0})
        .Address(0, 0, counter);
  }

  // Every kind of command, data both ways, prints, an error that fails a queue and is cleared, a trace, a second queue.
  static void Play(Session& session, Seen* seen) {
    session.OnPrint([seen](const KernelPrint& print) {
      seen->prints.push_back(print.text);
      EXPECT_EQ(print.lost, 0u);
    });
    session.OnProgress([seen](Position position) {
      EXPECT_GT(position.value, seen->progress[position.queue]) << "told twice";
      seen->progress[position.queue] = position.value;
    });
    const Program bump = MakeProgram(&session, "bump_brisc", {kCore});
    const Program print = MakeProgram(&session, "print_brisc", {kCore});
    Result<Buffer> counter = session.AllocateDram(kPageBytes, {.page_bytes = kPageBytes});
    Result<Buffer> large = session.AllocateDram(kLargeBytes);
    Result<Queue> other = session.OpenQueue(QueueKind::kTransfer);
    ASSERT_TRUE(counter.ok() && large.ok() && other.ok()) << counter.status().ToString();
    Queue queue = session.queue();
    std::vector<LaunchRequest> launches = {Add(bump, *counter, 1000), Add(bump, *counter, 10'000)};
    Result<Trace> trace = queue.RecordTrace(launches);
    ASSERT_TRUE(trace.ok()) << trace.status().ToString();

    const std::vector<std::byte> bytes = Pattern(kLargeBytes, 7);
    ASSERT_TRUE(queue.EnqueueWrite(*large, 0, bytes).ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(queue.EnqueueLaunch(Add(bump, *counter, 1)).ok());
      ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(*trace)).ok());
    }
    ASSERT_TRUE(queue.EnqueueLaunch(LaunchRequest(print).Common(0, {5, 0, 77})).ok());
    const Result<Position> written = queue.EnqueueBarrier();
    ASSERT_TRUE(written.ok() && other->After(std::span(&*written, 1)).ok());
    std::vector<std::byte> back(kLargeBytes);
    const Result<Position> read = other->EnqueueRead(*large, 0, back);
    ASSERT_TRUE(read.ok());
    std::vector<std::byte> none(64);
    const Result<Position> bad = queue.EnqueueRead(*counter, 4096, none);
    const Result<Position> follows = queue.EnqueueLaunch(Add(bump, *counter, 500'000));
    ASSERT_TRUE(bad.ok() && follows.ok());
    for (const Result<Position>* one : {&bad, &follows}) {
      const Status status = queue.Wait(**one);
      seen->errors.push_back(CodeName(status.code()) + " " + status.reason());
    }
    ASSERT_TRUE(queue.ClearError().ok());
    ASSERT_TRUE(queue.Launch(Add(bump, *counter, 1)).ok());
    const Status waited = other->Wait(*read);
    ASSERT_TRUE(waited.ok()) << waited.ToString();
    EXPECT_EQ(back, bytes);
    std::vector<uint32_t> words(kPageBytes / 4);
    const Status sum = queue.Read(*counter, 0, std::as_writable_bytes(std::span(words)));
    ASSERT_TRUE(sum.ok()) << sum.ToString();
    seen->sum = words[0];
    const Status closed = session.Close();
    EXPECT_TRUE(closed.ok()) << closed.ToString();
  }

  void ExpectNothingLeft() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    Result<DaemonStatus> status = admin_.GetStatus();
    while ((!status.ok() || status->sessions > 1 || status->memory[0].used_bytes > 0) &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      status = admin_.GetStatus();
    }
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->sessions, 1u) << "the fixture's";
    EXPECT_EQ(status->memory[0].used_bytes, 0u);
  }

  // Cuts at `points` places in each direction, spread over everything that is said, each in a session of its own.
  void TryEverywhere(uint64_t points) {
    CutRelay relay(daemon_.address());
    Seen whole;
    uint64_t passed[2] = {};
    {
      Result<Session> session = Session::Connect(Options(relay));
      ASSERT_TRUE(session.ok()) << session.status().ToString();
      const uint64_t before[2] = {relay.passed(CutRelay::kToDaemon),
                                  relay.passed(CutRelay::kToClient)};
      Play(*session, &whole);
      for (const CutRelay::Direction way : {CutRelay::kToDaemon, CutRelay::kToClient}) {
        passed[way] = relay.passed(way) - before[way];
      }
    }
    ASSERT_EQ(whole.sum, 20u * 11'001 + 1);
    ASSERT_EQ(whole.prints.size(), 5u);
    ASSERT_THAT(whole.errors, ::testing::SizeIs(2));
    uint64_t cuts = 0;
    for (const CutRelay::Direction way : {CutRelay::kToDaemon, CutRelay::kToClient}) {
      for (uint64_t point = 0; point < points; ++point) {
        const uint64_t at = 1 + (passed[way] - 1) * point / points;
        SCOPED_TRACE("cut after byte " + std::to_string(at) + " of " + std::to_string(passed[way]) +
                     (way == 0 ? " to the daemon" : " to the client"));
        Result<Session> session = Session::Connect(Options(relay));
        ASSERT_TRUE(session.ok()) << session.status().ToString();
        const uint64_t cuts_before = relay.cuts();
        relay.CutAfter(way, at);
        Seen seen;
        Play(*session, &seen);
        relay.CutAfter(way, UINT64_MAX);
        EXPECT_TRUE(seen == whole);
        cuts += relay.cuts() - cuts_before;
        if (HasFailure()) return;
      }
    }
    EXPECT_GE(cuts, 2 * points * 9 / 10) << "nearly all of the places are reached";
    RecordProperty("points", static_cast<int>(cuts));
    ExpectNothingLeft();
  }

  Admin admin_ = Admin::Connect(daemon_.address());
};

TEST_F(ClientReconnect, ACutAnywhereChangesNothing) { TryEverywhere(150); }

TEST_F(ClientReconnect, ConnectionsThatBreakAgainAndAgainStillGetItDone) {
  CutRelay relay(daemon_.address());
  Result<Session> session = Session::Connect(Options(relay));
  ASSERT_TRUE(session.ok());
  const Program bump = MakeProgram(&*session, "bump_brisc", {kCore});
  Result<Buffer> counter = session->AllocateDram(kPageBytes, {.page_bytes = kPageBytes});
  ASSERT_TRUE(counter.ok());
  relay.CutAfter(CutRelay::kToDaemon, 5000, /*again=*/true);
  relay.CutAfter(CutRelay::kToClient, 3000, /*again=*/true);
  constexpr uint32_t kLaunches = 2000;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const Result<Position> launched = session->queue().EnqueueLaunch(Add(bump, *counter, 1));
    ASSERT_TRUE(launched.ok()) << launched.status().ToString();
    // Messages shorter than what passes between two cuts.
    if (i % 16 == 0) {
      const Status status = session->queue().Finish();
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }
  std::vector<uint32_t> words(kPageBytes / 4);
  const Status read = session->queue().Read(*counter, 0, std::as_writable_bytes(std::span(words)));
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(words[0], kLaunches);
  EXPECT_GE(session->reconnects(), 10u);
}

TEST_F(ClientReconnect, AMessageThatBreaksEveryConnectionIsNotSentForEver) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_for = std::chrono::milliseconds(500);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> large = session->AllocateDram(kLargeBytes);
  ASSERT_TRUE(large.ok());
  relay.CutAfter(CutRelay::kToDaemon, 60'000, /*again=*/true);
  const Status status = session->queue().Write(*large, 0, Pattern(kLargeBytes));
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  EXPECT_LE(relay.cuts(), 20u) << "in growing intervals";
}

TEST_F(ClientReconnect, ABackgroundThreadComesBackWhileNobodyWaits) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.background_thread = true;
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  relay.CutNow();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (session->reconnects() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(session->reconnects(), 1u);
  EXPECT_TRUE(session->AllocateDram(64).ok());
}

TEST_F(ClientReconnect, ASessionThatIsGoneSaysWhatWentWithItAndTheNextUseBeginsAnew) {
  CutRelay relay(daemon_.address());
  Result<Session> session = Session::Connect(Options(relay));
  ASSERT_TRUE(session.ok());
  const uint64_t first = session->id();
  Result<Buffer> a = session->AllocateDram(4096);
  Result<Buffer> b = session->AllocateDram(4096);
  const Program program = MakeProgram(&*session, "empty", {kCore});
  const std::vector<LaunchRequest> launches = {LaunchRequest(program)};
  Result<Trace> trace = session->queue().RecordTrace(launches);
  ASSERT_TRUE(a.ok() && b.ok() && trace.ok());
  Queue queue = session->queue();
  relay.Refuse(true);
  relay.CutNow();
  ASSERT_TRUE(admin_.EndSession(first, "test").ok());
  relay.Refuse(false);
  const Result<Position> barrier = queue.EnqueueBarrier();
  const Status status = barrier.ok() ? queue.Wait(*barrier) : barrier.status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "SESSION_LOST") << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), HasSubstr("2 buffers, 0 kernels, 1 program, 1 trace"));
  EXPECT_EQ(queue.EnqueueBarrier().status().reason(), "SESSION_LOST");
  EXPECT_EQ(session->status().reason(), "SESSION_LOST");
  ASSERT_TRUE(session->AllocateDram(64).ok());
  EXPECT_NE(session->id(), first);
  EXPECT_TRUE(session->queue().EnqueueBarrier().ok());
  EXPECT_EQ(queue.EnqueueBarrier().status().reason(), "SESSION_LOST");
}

TEST_F(ClientReconnect, ADaemonThatIsAwayForTooLongIsAConnectionLost) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_for = std::chrono::milliseconds(300);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  relay.Refuse(true);
  relay.CutNow();
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  EXPECT_TRUE(status.retryable());
  EXPECT_THAT(status.message(), HasSubstr("1 buffer, 0 kernels, 0 programs, 0 traces"));
  EXPECT_THAT(status.message(), HasSubstr("1 command without an answer"));
  ExpectNothingLeft();  // the daemon keeps it no longer than the client asked for
  relay.Refuse(false);
  // A new session in its place, to which the old buffer means nothing.
  Result<Buffer> again = session->AllocateDram(4096);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_NE(again->handle(), buffer->handle());
  EXPECT_EQ(session->queue().Fill(*buffer, 0, 4096, 1).reason(), "UNKNOWN_HANDLE");
  EXPECT_TRUE(session->queue().Fill(*again, 0, 4096, 1).ok());
}

TEST_F(ClientReconnect, WithoutTimeToComeBackTheSessionEndsWithItsConnection) {
  CutRelay relay(daemon_.address());
  ConnectOptions options = Options(relay);
  options.reconnect_for = std::chrono::milliseconds(0);
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok());
  Result<Buffer> buffer = session->AllocateDram(4096);
  relay.CutNow();
  const Status status = session->queue().Fill(*buffer, 0, 4096, 1);
  EXPECT_EQ(status.reason(), "CONNECTION_LOST") << status.ToString();
  ExpectNothingLeft();
}

TEST_F(ClientReconnect, AClientThatAsksForMoreTimeThanIsAllowedGetsLess) {
  ConnectOptions options = {.address = daemon_.address()};
  options.reconnect_for = std::chrono::minutes(8);  // the daemon's limit is five
  Result<Session> session = Session::Connect(options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_TRUE(session->AllocateDram(64).ok());
}

}  // namespace
}  // namespace ttfd::client
