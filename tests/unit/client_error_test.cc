// libttfd's promises about errors: whole, first cause first, and never a hang.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_error_test {
namespace {

using ttfd::testing::FakeTtfdServer;

class ClientErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Session> session =
        Session::Connect({.address = server_.address(),
                          .call_timeout = std::chrono::seconds(10),
                          .reconnect_timeout = std::chrono::milliseconds(200)});
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = std::make_unique<Session>(std::move(*session));
    Result<Kernel> kernel = session_->LoadKernel(std::vector<std::byte>(16), "k");
    ProgramBuilder builder;
    builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
    Result<Program> program = session_->CreateProgram(builder);
    ASSERT_TRUE(program.ok());
    program_ = std::move(*program);
    queue_ = session_->queue();
  }

  LaunchRequest LaunchThat(uint32_t does) {
    LaunchRequest launch(program_);
    launch.Timeout(std::chrono::milliseconds(does));
    return launch;
  }

  FakeTtfdServer server_;
  std::unique_ptr<Session> session_;
  Program program_;
  Queue queue_;
};

TEST_F(ClientErrors, CarryEverythingTheDaemonSaid) {
  Result<Buffer> buffer = session_->AllocateDram(64);
  const std::vector<std::byte> bytes(64);
  const Status status = queue_.Write(*buffer, 4, bytes);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.reason(), "INVALID");
  EXPECT_EQ(status.error().field, "write.offset");
  EXPECT_EQ(status.ToString(),
            "INVALID_ARGUMENT: write outside of the buffer [INVALID, field write.offset, "
            "execution: not started]");
}

TEST_F(ClientErrors, ABlockingCallThatFailsLeavesTheQueueOpen) {
  EXPECT_FALSE(queue_.Launch(LaunchThat(ttfd::testing::kLaunchFails)).ok());
  EXPECT_TRUE(queue_.Launch(LaunchThat(0)).ok());
}

TEST_F(ClientErrors, AnEnqueuedFailureFailsTheQueueUntilItIsCleared) {
  const Result<Position> bad = queue_.EnqueueLaunch(LaunchThat(ttfd::testing::kLaunchFails));
  const Result<Position> after = queue_.EnqueueBarrier();
  EXPECT_EQ(queue_.Wait(*bad).reason(), "DEVICE_FAULT");
  EXPECT_EQ(queue_.Wait(*bad).execution_state(), ExecutionState::kUnknown);
  const Status aborted = queue_.Wait(*after);
  EXPECT_EQ(aborted.execution_state(), ExecutionState::kNotStarted);
  EXPECT_EQ(aborted.code(), Code::kAborted);
  EXPECT_EQ(aborted.error().cause, *bad);
  EXPECT_EQ(queue_.error().reason(), "DEVICE_FAULT");

  const Result<Position> later = queue_.EnqueueBarrier();
  EXPECT_EQ(queue_.Wait(*later).code(), Code::kAborted);

  ASSERT_TRUE(queue_.ClearError().ok());
  EXPECT_TRUE(queue_.error().ok());
  const Result<Position> fine = queue_.EnqueueBarrier();
  EXPECT_TRUE(queue_.Wait(*fine).ok());
  // History is kept for those who ask late.
  EXPECT_EQ(queue_.Wait(*bad).reason(), "DEVICE_FAULT");
}

TEST_F(ClientErrors, OfOneQueueDoNotTouchAnother) {
  Result<Queue> other = session_->OpenQueue({});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(queue_.EnqueueLaunch(LaunchThat(ttfd::testing::kLaunchFails)).ok());
  EXPECT_FALSE(queue_.Finish().ok());
  const Result<Position> fine = other->EnqueueBarrier();
  EXPECT_TRUE(other->Wait(*fine).ok());
  EXPECT_TRUE(session_->AllocateDram(64).ok());
}

TEST_F(ClientErrors, OfCreationsTouchNoQueue) {
  EXPECT_EQ(session_->AllocateDram(1 << 30).status().reason(), "LIMIT");
  const Result<Position> fine = queue_.EnqueueBarrier();
  EXPECT_TRUE(queue_.Wait(*fine).ok());
  EXPECT_TRUE(session_->AllocateDram(64).ok());
}

TEST_F(ClientErrors, AWaitHasADeadline) {
  const Result<Position> hung = queue_.EnqueueLaunch(LaunchThat(ttfd::testing::kLaunchHangs));
  const Status status = queue_.Wait(*hung, std::chrono::milliseconds(20));
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(status.reason(), "WAIT");
}

TEST_F(ClientErrors, ADestroyedSessionDoesNotWaitForWorkThatHangs) {
  ASSERT_TRUE(queue_.EnqueueLaunch(LaunchThat(ttfd::testing::kLaunchHangs)).ok());
  ASSERT_TRUE(queue_.Flush().ok());
  const auto before = std::chrono::steady_clock::now();
  session_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
  EXPECT_EQ(queue_.EnqueueBarrier().status().code(), Code::kCancelled);
}

TEST_F(ClientErrors, ACallThatBreaksOffEndsEveryWait) {
  const Result<Position> bad = queue_.EnqueueLaunch(LaunchThat(ttfd::testing::kCallBreaks));
  const Status status = queue_.Wait(*bad);
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_EQ(status.message(), "the daemon has broken off");
  EXPECT_EQ(session_->status().code(), Code::kInternal);
  EXPECT_EQ(queue_.EnqueueBarrier().status().code(), Code::kInternal);
  EXPECT_EQ(session_->AllocateDram(64).status().code(), Code::kInternal);
}

TEST_F(ClientErrors, ADaemonThatDiesIsAClearErrorAndTheSessionStaysDead) {
  server_.Kill();
  const Result<Position> lost = queue_.EnqueueBarrier();
  const Status status = lost.ok() ? queue_.Wait(*lost) : lost.status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_FALSE(status.message().empty());
  EXPECT_FALSE(queue_.EnqueueBarrier().ok());
  EXPECT_FALSE(session_->Close().ok());
}

TEST_F(ClientErrors, APositionNobodyWasGivenIsRefused) {
  EXPECT_EQ(queue_.Wait({queue_.id(), 1'000'000}).code(), Code::kInvalidArgument);
  EXPECT_EQ(queue_.Wait({77, 1}).code(), Code::kInvalidArgument);
  EXPECT_EQ(Queue().EnqueueBarrier().status().code(), Code::kFailedPrecondition);
}

TEST(ClientStatus, SaysAllItKnows) {
  EXPECT_EQ(Status().ToString(), "OK");
  EXPECT_EQ(Status(Code::kNotFound, "no").ToString(), "NOT_FOUND: no");
  const Status status(ErrorInfo{.code = Code::kResourceExhausted,
                                .message = "too many",
                                .reason = "LIMIT",
                                .cause = {1, 7},
                                .limit = "handles",
                                .limit_value = 10,
                                .limit_used = 10,
                                .retryable = true});
  EXPECT_EQ(status.ToString(),
            "RESOURCE_EXHAUSTED: too many [LIMIT, limit handles = 10, 10 used, caused by command 7 "
            "of queue 1, retryable]");
  EXPECT_EQ(CodeName(static_cast<Code>(99)), "CODE_99");
}

}  // namespace
}  // namespace ttfd::client::client_error_test
