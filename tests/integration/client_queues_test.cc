// Queues of a kind and of some of the workers, through libttfd and the real daemon.
#include <gmock/gmock.h>

#include "tests/support/client_fixture.h"

namespace ttfd::client::client_queues_test {
namespace {

using ::testing::HasSubstr;
using ttfd::testing::Pattern;

constexpr uint32_t kFlagBytes = 64;  // a page of L1 on every worker

// "meet" kernels, which end when somebody has raised the flag of their tile.
class ClientQueues : public ttfd::testing::ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    Result<Buffer> flags =
        session_->AllocateL1(session_->device().workers() * kFlagBytes, {.page_bytes = kFlagBytes});
    ASSERT_TRUE(flags.ok()) << flags.status().ToString();
    flags_ = std::move(*flags);
  }
  Queue MustOpen(QueueKind kind, const std::vector<CoreRange>& workers = {}) {
    Result<Queue> queue = session_->OpenQueue({.kind = kind, .workers = workers});
    EXPECT_TRUE(queue.ok()) << queue.status().ToString();
    return queue.ok() ? *queue : Queue();
  }
  Program MeetProgram(Core own) {
    return MakeProgram(session_.get(), "meet_brisc", {CoreRange::Single(own)});
  }
  // The kernels count while they wait: a card on which nothing can move any more is a hang, also
  // when the client is about to send what would help.
  LaunchRequest WaitForFlag(const Program& program) const { return Meet(program, {0, 0, 0, 2}); }
  LaunchRequest RaiseAndWait(const Program& program, Core other) const {
    return Meet(program, {0, other.x, other.y, 3});
  }
  LaunchRequest Meet(const Program& program, std::vector<uint32_t> words) const {
    return LaunchRequest(program).Common(0, std::move(words)).Address(0, 0, flags_);
  }
  uint64_t OffsetOfFlag(Core core) const {
    return (uint64_t{core.y} * session_->device().grid_x + core.x) * kFlagBytes;
  }

  const CoreRange left_ = {0, 0, 5, 9};
  const CoreRange right_ = {6, 0, 12, 9};
  Buffer flags_;
};

TEST_F(ClientQueues, UploadsAndDownloadsGoOnWhileAKernelRuns) {
  const Program program = MeetProgram({3, 2});
  Result<Buffer> buffer = session_->AllocateDram(32 << 10);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  Queue compute = session_->queue();
  Queue transfer = MustOpen(QueueKind::kTransfer);
  // The kernel ends when the last transfer has been done.
  const Result<Position> launched = compute.EnqueueLaunch(WaitForFlag(program));
  const std::vector<std::byte> bytes = Pattern(32 << 10);
  ASSERT_TRUE(transfer.EnqueueWrite(*buffer, 0, bytes).ok());
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(transfer.EnqueueRead(*buffer, 0, back).ok());
  const Result<Position> raised = transfer.EnqueueFill(flags_, OffsetOfFlag({3, 2}), 16, 1);
  ASSERT_TRUE(launched.ok() && raised.ok());
  const Status finished = compute.Wait(*launched);
  EXPECT_TRUE(finished.ok()) << finished.ToString();
  EXPECT_TRUE(transfer.Wait(*raised).ok());
  EXPECT_EQ(back, bytes);
}

TEST_F(ClientQueues, ALaunchOutsideOfItsQueuesWorkersIsRefusedAndTheCoreNamed) {
  Queue left = MustOpen(QueueKind::kCompute, {left_});
  const Program beyond = MakeProgram(session_.get(), "empty", {CoreRange{4, 3, 6, 3}});
  const Program within = MakeProgram(session_.get(), "empty", {left_});
  const Status refused = left.Launch(LaunchRequest(beyond));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument) << refused.ToString();
  EXPECT_EQ(refused.reason(), "INVALID");
  EXPECT_EQ(refused.error().field, "launch.program");
  EXPECT_THAT(refused.message(), HasSubstr("(6,3)"));
  const Status recorded = left.RecordTrace(std::vector{LaunchRequest(beyond)}).status();
  EXPECT_EQ(recorded.code(), Code::kInvalidArgument) << recorded.ToString();
  EXPECT_THAT(recorded.message(), HasSubstr("(6,3)"));
  EXPECT_TRUE(left.Launch(LaunchRequest(within)).ok());
  EXPECT_TRUE(session_->queue().Launch(LaunchRequest(beyond)).ok());
}

TEST_F(ClientQueues, WorkersThatAreNoneAreRefused) {
  const DeviceInfo& device = session_->device();
  for (const std::vector<CoreRange>& workers :
       {std::vector{CoreRange{0, 0, device.grid_x, 0}}, {CoreRange{3, 3, 2, 3}}, {left_, left_}}) {
    const Status status = session_->OpenQueue({.workers = workers}).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_EQ(status.error().field.substr(0, 18), "open_queue.workers") << status.ToString();
  }
  EXPECT_TRUE(session_->OpenQueue({.workers = {left_, right_}}).ok());
}

TEST_F(ClientQueues, TwoSubDevicesRunTwoProgramsAtOnce) {
  Queue left = MustOpen(QueueKind::kCompute, {left_});
  Queue right = MustOpen(QueueKind::kCompute, {right_});
  const Program one = MeetProgram({1, 1});
  const Program other = MeetProgram({9, 4});
  // Each raises the other's flag and waits for its own. The second is sent when the first runs already.
  const Result<Position> first = left.EnqueueLaunch(RaiseAndWait(one, {9, 4}));
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(left.Flush().ok());
  const Result<Position> second = right.EnqueueLaunch(RaiseAndWait(other, {1, 1}));
  ASSERT_TRUE(second.ok());
  const Status first_ended = left.Wait(*first);
  EXPECT_TRUE(first_ended.ok()) << first_ended.ToString();
  const Status second_ended = right.Wait(*second);
  EXPECT_TRUE(second_ended.ok()) << second_ended.ToString();
}

TEST_F(ClientQueues, TwoSubDevicesRunTheirOwnPrograms) {
  constexpr uint32_t kRounds = 50;
  Result<Buffer> counters = session_->AllocateDram(2 * kFlagBytes, {.page_bytes = kFlagBytes});
  ASSERT_TRUE(counters.ok());
  Queue queues[] = {MustOpen(QueueKind::kCompute, {left_}),
                    MustOpen(QueueKind::kCompute, {right_})};
  const Program programs[] = {MakeProgram(session_.get(), "bump_brisc", {CoreRange{1, 1, 1, 1}}),
                              MakeProgram(session_.get(), "bump_brisc", {CoreRange{9, 4, 9, 4}})};
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (const uint32_t i : {0U, 1U}) {
      LaunchRequest launch(programs[i]);
      launch.Common(0, {0, kFlagBytes, 1 + 99 * i, 500}).Address(0, 0, *counters);
      ASSERT_TRUE(queues[i].EnqueueLaunch(launch.PerCore(0, 1, {i})).ok());
    }
  }
  for (Queue& queue : queues) {
    const Status finished = queue.Finish();
    EXPECT_TRUE(finished.ok()) << finished.ToString();
  }
  std::vector<uint32_t> words(2 * kFlagBytes / 4);
  ASSERT_TRUE(queues[0].Read(*counters, 0, std::as_writable_bytes(std::span(words))).ok());
  EXPECT_EQ(words[0], kRounds);
  EXPECT_EQ(words[kFlagBytes / 4], 100 * kRounds);
}

// The same workers under two queues in turn: what one has written the other adds to.
TEST_F(ClientQueues, AWorkerSetPassesFromQueueToQueueThroughWaits) {
  constexpr uint32_t kRounds = 40;
  constexpr uint32_t kPageBytes = 64;
  Queue all = session_->queue();
  Queue left = MustOpen(QueueKind::kCompute, {left_});
  const CoreRange cores = {0, 0, 3, 3};
  const Program program = MakeProgram(session_.get(), "bump_brisc", {cores});
  Result<Buffer> counters =
      session_->AllocateDram(cores.count() * kPageBytes, {.page_bytes = kPageBytes});
  ASSERT_TRUE(counters.ok());
  std::vector<uint32_t> pages(cores.count());
  for (uint32_t i = 0; i < pages.size(); ++i) {
    pages[i] = i;
  }
  Position last;
  for (uint32_t round = 0; round < kRounds; ++round) {
    Queue& queue = round % 2 == 0 ? all : left;
    if (last.value != 0) {
      ASSERT_TRUE(queue.After(std::span(&last, 1)).ok());
    }
    LaunchRequest launch(program);
    launch.Common(0, {0, kPageBytes, round, 2000}).Address(0, 0, *counters).PerCore(0, 1, pages);
    const Result<Position> position = queue.EnqueueLaunch(launch);
    ASSERT_TRUE(position.ok());
    last = *position;
  }
  const Status finished = left.Wait(last);
  ASSERT_TRUE(finished.ok()) << finished.ToString();
  std::vector<uint32_t> words(cores.count() * kPageBytes / 4);
  ASSERT_TRUE(all.Read(*counters, 0, std::as_writable_bytes(std::span(words))).ok());
  for (size_t page = 0; page < cores.count(); ++page) {
    EXPECT_EQ(words[page * kPageBytes / 4], kRounds * (kRounds - 1) / 2) << page;
  }
}

}  // namespace
}  // namespace ttfd::client::client_queues_test
