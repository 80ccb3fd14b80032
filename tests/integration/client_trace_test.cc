// Traces through libttfd and the real daemon: recorded, patched, replayed, released, refused.
#include <gmock/gmock.h>

#include "tests/support/client_fixture.h"

namespace ttfd::client::client_trace_test {
namespace {

using ::testing::HasSubstr;
using ttfd::testing::Pattern;

// Launches of a kernel that adds a number to the first word of a page, one page a tile.
class ClientTraces : public ttfd::testing::ClientFixture {
 protected:
  static constexpr uint32_t kPageBytes = 64;

  void SetUp() override {
    ClientFixture::SetUp();
    program_ = MakeProgram(session_.get(), "bump_brisc", {cores_});
    Result<Buffer> counters =
        session_->AllocateDram(cores_.count() * kPageBytes, {.page_bytes = kPageBytes});
    ASSERT_TRUE(counters.ok()) << counters.status().ToString();
    counters_ = std::move(*counters);
  }
  // `padding`: common words that nobody looks at.
  LaunchRequest Add(uint32_t value, size_t padding = 0) const {
    std::vector<uint32_t> common = {0, kPageBytes, value, 0};
    common.resize(common.size() + padding);
    std::vector<uint32_t> pages(cores_.count());
    for (uint32_t i = 0; i < pages.size(); ++i) {
      pages[i] = i;
    }
    LaunchRequest launch(program_);
    launch.Common(0, std::move(common)).Address(0, 0, counters_).PerCore(0, 1, std::move(pages));
    return launch;
  }
  Trace MustRecord(Queue queue, const std::vector<LaunchRequest>& launches) {
    Result<Trace> trace = queue.RecordTrace(launches);
    EXPECT_TRUE(trace.ok()) << trace.status().ToString();
    return trace.ok() ? std::move(*trace) : Trace();
  }
  void ExpectCounters(uint32_t value) {
    std::vector<uint32_t> words(counters_.size_bytes() / 4);
    const Status read =
        session_->queue().Read(counters_, 0, std::as_writable_bytes(std::span(words)));
    ASSERT_TRUE(read.ok()) << read.ToString();
    for (size_t page = 0; page < cores_.count(); ++page) {
      EXPECT_EQ(words[page * kPageBytes / 4], value) << page;
    }
  }
  void ExpectRefused(const Status& status, Code code, const std::string& reason,
                     const std::string& field) {
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.reason(), reason) << status.ToString();
    EXPECT_EQ(status.error().field.substr(0, field.size()), field) << status.ToString();
    EXPECT_TRUE(session_->queue().EnqueueBarrier().ok());
    EXPECT_TRUE(session_->queue().Finish().ok()) << "after " << status.ToString();
  }

  const CoreRange cores_ = {2, 1, 5, 4};
  Program program_;
  Buffer counters_;
};

TEST_F(ClientTraces, ReplaysItsLaunchesAnyNumberOfTimes) {
  Queue queue = session_->queue();
  const Trace trace = MustRecord(queue, {Add(1), Add(10), Add(100)});
  ExpectCounters(0);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(trace)).ok());
  }
  const Status finished = queue.Finish();
  ASSERT_TRUE(finished.ok()) << finished.ToString();
  ExpectCounters(20 * 111);
}

TEST_F(ClientTraces, APatchHoldsFromItsReplayOn) {
  Queue queue = session_->queue();
  const Trace trace = MustRecord(queue, {Add(1), Add(10)});
  ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(trace)).ok());
  // Without waiting: the replay before must not see it.
  ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(trace).Patch(1, Add(1000))).ok());
  const Status replayed = queue.Replay(ReplayRequest(trace));
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  ExpectCounters(11 + 1001 + 1001);
}

TEST_F(ClientTraces, OneTooLongForAMessageIsRecordedInPieces) {
  constexpr uint32_t kLaunches = 800;
  std::vector<LaunchRequest> launches;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    launches.push_back(Add(i, 200));
  }
  Queue queue = session_->queue();
  const uint64_t before = queue.submitted();
  const Trace trace = MustRecord(queue, launches);
  EXPECT_GT(queue.submitted(), before + 2);
  const Status replayed = queue.Replay(ReplayRequest(trace));
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  ExpectCounters(kLaunches * (kLaunches - 1) / 2);
}

TEST_F(ClientTraces, TwoLiveBesideOrdinaryWorkOfBothKindsOfQueue) {
  Queue queue = session_->queue();
  Result<Queue> transfer = session_->OpenQueue({.kind = QueueKind::kTransfer});
  ASSERT_TRUE(transfer.ok());
  Result<Buffer> buffer = session_->AllocateDram(1 << 20);
  ASSERT_TRUE(buffer.ok());
  const Trace one = MustRecord(queue, {Add(1), Add(2)});
  const Trace other = MustRecord(queue, {Add(100)});
  const std::vector<std::byte> bytes = Pattern(1 << 20);
  std::vector<std::byte> back(bytes.size());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(one)).ok());
    ASSERT_TRUE(transfer->EnqueueWrite(*buffer, 0, bytes).ok());
    ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(other)).ok());
    ASSERT_TRUE(queue.EnqueueLaunch(Add(10'000)).ok());
    ASSERT_TRUE(transfer->EnqueueRead(*buffer, 0, back).ok());
  }
  const Status finished = queue.Finish();
  ASSERT_TRUE(finished.ok()) << finished.ToString();
  ASSERT_TRUE(transfer->Finish().ok());
  ExpectCounters(10 * 10'103);
  EXPECT_EQ(back, bytes);
}

TEST_F(ClientTraces, RunsOnTheQueuesOfItsWorkersAndOnNoOther) {
  const std::vector<CoreRange> workers = {{0, 0, 5, 9}};
  Result<Queue> left = session_->OpenQueue({.workers = workers});
  Result<Queue> same = session_->OpenQueue({.workers = workers});
  ASSERT_TRUE(left.ok() && same.ok());
  const Trace trace = MustRecord(*left, {Add(1)});
  ASSERT_TRUE(left->Replay(ReplayRequest(trace)).ok());
  ASSERT_TRUE(same->Replay(ReplayRequest(trace)).ok());
  ExpectRefused(session_->queue().Replay(ReplayRequest(trace)), Code::kInvalidArgument, "INVALID",
                "replay_trace.trace");
  ExpectCounters(2);
}

TEST_F(ClientTraces, AReleasedTraceIsUnknown) {
  Queue queue = session_->queue();
  Trace trace = MustRecord(queue, {Add(1)});
  const ReplayRequest replay(trace);
  ASSERT_TRUE(queue.EnqueueReplay(replay).ok());
  ASSERT_TRUE(queue.Finish().ok());
  trace = Trace();
  ExpectRefused(queue.Replay(replay), Code::kNotFound, "UNKNOWN_HANDLE", "replay_trace.trace");
  ExpectRefused(queue.Replay(ReplayRequest(trace)), Code::kNotFound, "UNKNOWN_HANDLE",
                "replay_trace.trace");
  ExpectCounters(1);
}

TEST_F(ClientTraces, MemoryOfReleasedTracesReturns) {
  std::vector<LaunchRequest> launches;
  for (uint32_t i = 0; i < 200; ++i) {
    launches.push_back(Add(i, 200));
  }
  // Together far more than the session may hold.
  const uint64_t rounds = session_->limits().trace_bytes / (200 * 800) + 2;
  for (uint64_t i = 0; i < std::min<uint64_t>(rounds, 500); ++i) {
    const Result<Trace> trace = session_->queue().RecordTrace(launches);
    ASSERT_TRUE(trace.ok()) << "after " << i << ": " << trace.status().ToString();
  }
}

TEST_F(ClientTraces, KeepsWhatItsArgumentsNameAlsoWhenThatIsFreed) {
  Queue queue = session_->queue();
  Program program = MakeProgram(session_.get(), "bump_brisc", {cores_});
  Result<Buffer> counters = session_->AllocateDram(counters_.size_bytes(), {.page_bytes = 64});
  ASSERT_TRUE(counters.ok());
  LaunchRequest launch(program);
  launch.Common(0, {0, kPageBytes, 7, 0}).Address(0, 0, *counters);
  launch.PerCore(0, 1, std::vector<uint32_t>(cores_.count()));
  const Trace trace = MustRecord(queue, {launch, Add(1)});
  program = Program();
  *counters = Buffer();
  // If its memory were given out again, these would see the launch's writes.
  std::vector<Buffer> others;
  for (int i = 0; i < 8; ++i) {
    Result<Buffer> other = session_->AllocateDram(counters_.size_bytes(), {.page_bytes = 64});
    ASSERT_TRUE(other.ok());
    others.push_back(std::move(*other));
  }
  const Status replayed = queue.Replay(ReplayRequest(trace));
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  ExpectCounters(1);
  for (const Buffer& other : others) {
    std::vector<std::byte> back(other.size_bytes(), std::byte{1});
    ASSERT_TRUE(queue.Read(other, 0, back).ok());
    EXPECT_EQ(back, std::vector<std::byte>(back.size()));
  }
}

TEST_F(ClientTraces, RefusalsNameTheLaunchOrThePatch) {
  Queue queue = session_->queue();
  using Launches = std::vector<LaunchRequest>;
  ExpectRefused(queue.RecordTrace({}).status(), Code::kInvalidArgument, "INVALID",
                "record_trace.launches");
  ExpectRefused(queue.RecordTrace(Launches{Add(1), LaunchRequest(Program())}).status(),
                Code::kNotFound, "UNKNOWN_HANDLE", "record_trace.launches[1].program");
  LaunchRequest too_few = Add(1);
  too_few.PerCore(0, 1, {1, 2, 3});
  ExpectRefused(queue.RecordTrace(Launches{Add(1), Add(2), too_few}).status(),
                Code::kInvalidArgument, "INVALID",
                "record_trace.launches[2].arguments[0].per_core");
  const Program empty = MakeProgram(session_.get(), "empty", {CoreRange{}});
  const Status too_many = queue.RecordTrace(Launches(40'000, LaunchRequest(empty))).status();
  ExpectRefused(too_many, Code::kResourceExhausted, "LIMIT", "record_trace.launches");
  EXPECT_THAT(too_many.error().limit, HasSubstr("trace"));

  const Trace trace = MustRecord(queue, {Add(1)});
  ExpectRefused(queue.Replay(ReplayRequest(trace).Patch(1, Add(2))), Code::kInvalidArgument,
                "INVALID", "replay_trace.patches[0].launch");
  ExpectRefused(queue.Replay(ReplayRequest(trace).Patch(0, Add(2, 1))), Code::kInvalidArgument,
                "INVALID", "replay_trace.patches[0].arguments");
  LaunchRequest other_kernel(program_);
  other_kernel.Common(1, {1});
  ExpectRefused(queue.Replay(ReplayRequest(trace).Patch(0, other_kernel)), Code::kInvalidArgument,
                "INVALID", "replay_trace.patches[0].arguments");
  ExpectCounters(0);
  EXPECT_TRUE(queue.Replay(ReplayRequest(trace)).ok());
  ExpectCounters(1);
}

}  // namespace
}  // namespace ttfd::client::client_trace_test
