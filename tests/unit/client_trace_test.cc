// libttfd's promises about traces: what is sent to record, replay and release one.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_trace_test {
namespace {

using ttfd::testing::FakeOptions;
using ttfd::testing::FakeTtfdServer;

class ClientTrace : public ::testing::Test {
 protected:
  void Connect() {
    Result<Session> session =
        Session::Connect({.address = server_->address(), .call_timeout = std::chrono::seconds(10)});
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = std::make_unique<Session>(std::move(*session));
    Result<Kernel> kernel = session_->LoadKernel(std::vector<std::byte>(16), "k");
    ASSERT_TRUE(kernel.ok());
    ProgramBuilder builder;
    builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{0, 0, 1, 0}});
    Result<Program> program = session_->CreateProgram(builder);
    ASSERT_TRUE(program.ok());
    program_ = std::move(*program);
  }
  std::vector<v1::RecordTrace> Recorded() {
    std::vector<v1::RecordTrace> recorded;
    for (const v1::Batch& batch : server_->seen().batches) {
      for (const v1::Command& command : batch.commands()) {
        if (command.has_record_trace()) {
          recorded.push_back(command.record_trace());
        }
      }
    }
    return recorded;
  }
  // Launches of 2 KiB each, the first word of which counts from `first`.
  std::vector<LaunchRequest> LargeLaunches(uint32_t count, uint32_t first = 0) const {
    std::vector<LaunchRequest> launches;
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint32_t> words(512);
      words[0] = first + i;
      launches.push_back(LaunchRequest(program_).Common(0, std::move(words)));
    }
    return launches;
  }

  std::unique_ptr<FakeTtfdServer> server_ = std::make_unique<FakeTtfdServer>();
  Program program_;
  std::unique_ptr<Session> session_;
};

TEST_F(ClientTrace, LaunchesArriveAsTheyWereGiven) {
  Connect();
  Result<Buffer> buffer = session_->AllocateDram(64);
  ASSERT_TRUE(buffer.ok());
  const std::vector<LaunchRequest> launches = {
      LaunchRequest(program_).Common(0, {1, 2}).Address(0, 1, *buffer),
      LaunchRequest(program_).PerCore(0, 1, {3, 4}).Timeout(std::chrono::milliseconds(9))};
  const Result<Trace> trace = session_->queue().RecordTrace(launches);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  EXPECT_EQ(trace->launches(), 2u);
  const std::vector<v1::RecordTrace> recorded = Recorded();
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(recorded[0].handle(), trace->handle());
  EXPECT_FALSE(recorded[0].more());
  ASSERT_EQ(recorded[0].launches_size(), 2);
  EXPECT_EQ(recorded[0].launches(0).program(), program_.handle());
  EXPECT_EQ(recorded[0].launches(0).arguments(0).buffers(0).buffer(), buffer->handle());
  EXPECT_EQ(recorded[0].launches(1).arguments(0).per_core(1), 4u);
  EXPECT_EQ(recorded[0].launches(1).timeout_ms(), 9u);
}

TEST_F(ClientTrace, ALongOneTravelsInPieces) {
  Connect();
  const Result<Trace> trace = session_->queue().RecordTrace(LargeLaunches(2000));
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  const std::vector<v1::RecordTrace> recorded = Recorded();
  EXPECT_GT(recorded.size(), 10u);
  uint32_t next = 0;
  for (size_t i = 0; i < recorded.size(); ++i) {
    EXPECT_EQ(recorded[i].handle(), trace->handle());
    EXPECT_EQ(recorded[i].more(), i + 1 != recorded.size());
    for (const v1::Launch& launch : recorded[i].launches()) {
      EXPECT_EQ(launch.arguments(0).common(0), next++);
    }
  }
  EXPECT_EQ(next, 2000u);
  EXPECT_LT(server_->seen().largest_message, 1u << 20);
}

TEST_F(ClientTrace, OneLaunchThatIsLargerThanAPieceStillTravels) {
  Connect();
  std::vector<LaunchRequest> launches = LargeLaunches(3);
  launches[1].PerCore(0, 100'000, std::vector<uint32_t>(200'000));
  ASSERT_TRUE(session_->queue().RecordTrace(launches).ok());
  EXPECT_EQ(Recorded().size(), 3u);
}

TEST_F(ClientTrace, ThePiecesOfTwoThreadsDoNotMix) {
  Connect();
  // The fake refuses a piece of one trace within another.
  std::vector<Status> statuses(3);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i) {
    threads.emplace_back([this, i, &statuses] {
      Queue queue = session_->queue();
      for (int round = 0; round < 3 && statuses[i].ok(); ++round) {
        statuses[i] = queue.RecordTrace(LargeLaunches(600)).status();
        if (statuses[i].ok()) {
          statuses[i] = queue.EnqueueBarrier().status();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Status& status : statuses) {
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST_F(ClientTrace, AReplaySaysWhatIsDifferentAndNothingElse) {
  Connect();
  Result<Buffer> buffer = session_->AllocateDram(64);
  ASSERT_TRUE(buffer.ok());
  std::vector<LaunchRequest> launches = LargeLaunches(2);
  Queue queue = session_->queue();
  const Result<Trace> trace = queue.RecordTrace(launches);
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(queue.Replay(ReplayRequest(*trace)).ok());
  const v1::ReplayTrace plain = server_->seen().batches.back().commands().rbegin()->replay_trace();
  EXPECT_EQ(plain.trace(), trace->handle());
  EXPECT_EQ(plain.patches_size(), 0);

  LaunchRequest changed(program_);
  changed.Common(0, {5, 0}).Address(0, 1, *buffer).PerCore(2, 1, {8});
  ASSERT_TRUE(queue.Replay(ReplayRequest(*trace).Patch(1, changed)).ok());
  const v1::ReplayTrace patched =
      server_->seen().batches.back().commands().rbegin()->replay_trace();
  ASSERT_EQ(patched.patches_size(), 2);
  EXPECT_EQ(patched.patches(0).launch(), 1u);
  EXPECT_EQ(patched.patches(0).arguments().common(0), 5u);
  EXPECT_EQ(patched.patches(0).arguments().buffers(0).buffer(), buffer->handle());
  EXPECT_EQ(patched.patches(1).launch(), 1u);
  EXPECT_EQ(patched.patches(1).arguments().kernel(), 2u);
  EXPECT_EQ(patched.patches(1).arguments().per_core(0), 8u);
}

TEST_F(ClientTrace, IsReleasedWithTheObjectAndUnknownAfterwards) {
  Connect();
  Queue queue = session_->queue();
  Result<Trace> trace = queue.RecordTrace(LargeLaunches(1));
  ASSERT_TRUE(trace.ok());
  const ReplayRequest replay(*trace);
  EXPECT_EQ(server_->live_handles().count(trace->handle()), 1u);
  *trace = Trace();
  const Status status = queue.Replay(replay);
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
  EXPECT_EQ(status.reason(), "UNKNOWN_HANDLE");
  EXPECT_EQ(status.error().field, "replay_trace.trace");
  EXPECT_TRUE(queue.error().ok()) << "a blocking form that fails leaves the queue open";
}

TEST_F(ClientTrace, TheFirstErrorOfAllPiecesIsTheAnswerAndTheQueueStaysOpen) {
  Connect();
  std::vector<LaunchRequest> launches = LargeLaunches(600);
  launches[0] = LaunchRequest(Program());
  Queue queue = session_->queue();
  const Status status = queue.RecordTrace(launches).status();
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
  EXPECT_EQ(status.error().field, "record_trace.launches[0].program");
  EXPECT_TRUE(queue.RecordTrace(LargeLaunches(600)).ok());
}

TEST_F(ClientTrace, FullWindow_IsDeadlineNotHang) {
  server_ = std::make_unique<FakeTtfdServer>(
      FakeOptions{.window_bytes = 2 << 20, .advertise_window = false});
  Result<Session> session = Session::Connect(
      {.address = server_->address(), .call_timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(session.ok());
  Queue queue = session->queue();
  const Status status = queue.RecordTrace(LargeLaunches(5000)).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.ToString();
  EXPECT_EQ(status.reason(), "WAIT");
}

}  // namespace
}  // namespace ttfd::client::client_trace_test
