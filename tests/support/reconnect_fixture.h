// A session that uses everything, over a connection that breaks at a chosen byte: what the client has seen in the end
// is the same as without.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/client_fixture.h"
#include "tests/support/cut_relay.h"

namespace ttfd::client {

inline constexpr uint32_t kPageBytes = 64;
inline constexpr size_t kLargeBytes = 300'000;
inline constexpr CoreRange kCore = {2, 1, 2, 1};

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

  static ConnectOptions Options(const ttfd::testing::CutRelay& relay) {
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
    Result<Queue> other = session.OpenQueue({.kind = QueueKind::kTransfer});
    ASSERT_TRUE(counter.ok() && large.ok() && other.ok()) << counter.status().ToString();
    Queue queue = session.queue();
    std::vector<LaunchRequest> launches = {Add(bump, *counter, 1000), Add(bump, *counter, 10'000)};
    Result<Trace> trace = queue.RecordTrace(launches);
    ASSERT_TRUE(trace.ok()) << trace.status().ToString();

    const std::vector<std::byte> bytes = ttfd::testing::Pattern(kLargeBytes, 7);
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
    // Less than the 20 s for which clients may reconnect unless they say otherwise.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    Result<DaemonStatus> status = admin_.GetStatus();
    while ((!status.ok() || status->sessions > 1 || status->devices[0].memory[0].used_bytes > 0) &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      status = admin_.GetStatus();
    }
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->sessions, 1u) << "the fixture's";
    EXPECT_EQ(status->devices[0].memory[0].used_bytes, 0u);
  }

  // Cuts at `points` places in each direction, spread over everything that is said, each in a session of its own.
  void TryEverywhere(uint64_t points) {
    ttfd::testing::CutRelay relay(daemon_.address());
    Seen whole;
    uint64_t passed[2] = {};
    {
      Result<Session> session = Session::Connect(Options(relay));
      ASSERT_TRUE(session.ok()) << session.status().ToString();
      const uint64_t before[2] = {relay.passed(ttfd::testing::CutRelay::kToDaemon),
                                  relay.passed(ttfd::testing::CutRelay::kToClient)};
      Play(*session, &whole);
      for (const ttfd::testing::CutRelay::Direction way :
           {ttfd::testing::CutRelay::kToDaemon, ttfd::testing::CutRelay::kToClient}) {
        passed[way] = relay.passed(way) - before[way];
      }
    }
    ASSERT_EQ(whole.sum, 20u * 11'001 + 1);
    ASSERT_EQ(whole.prints.size(), 5u);
    ASSERT_THAT(whole.errors, ::testing::SizeIs(2));
    uint64_t cuts = 0;
    for (const ttfd::testing::CutRelay::Direction way :
         {ttfd::testing::CutRelay::kToDaemon, ttfd::testing::CutRelay::kToClient}) {
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

}  // namespace ttfd::client
