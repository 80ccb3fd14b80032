// libttfd's promises about queues: their kind and workers, and what waits for what.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_queue_test {
namespace {

using ttfd::testing::FakeTtfdServer;

Session MustConnect(const FakeTtfdServer& server) {
  Result<Session> session =
      Session::Connect({.address = server.address(), .call_timeout = std::chrono::seconds(10)});
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

TEST(ClientQueue, OpenQueue_NamesKindAndWorkers) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  ASSERT_TRUE(session.OpenQueue({.kind = QueueKind::kTransfer}).ok());
  EXPECT_EQ(server.seen().open_queues.back().kind(), v1::QUEUE_KIND_TRANSFER);
  EXPECT_EQ(server.seen().open_queues.back().workers_size(), 0);

  const Result<Queue> queue =
      session.OpenQueue({.workers = {CoreRange{0, 0, 5, 9}, CoreRange{6, 0, 6, 4}}});
  ASSERT_TRUE(queue.ok());
  EXPECT_EQ(queue->completed(), 1u) << "the barrier of opening it";
  const v1::OpenQueue opened = server.seen().open_queues.back();
  EXPECT_EQ(opened.queue(), queue->id());
  EXPECT_EQ(opened.kind(), v1::QUEUE_KIND_COMPUTE);
  ASSERT_EQ(opened.workers_size(), 2);
  EXPECT_EQ(opened.workers(0).x1(), 5u);
  EXPECT_EQ(opened.workers(0).y1(), 9u);
  EXPECT_EQ(opened.workers(1).x0(), 6u);
  EXPECT_EQ(opened.workers(1).y1(), 4u);
}

TEST(ClientQueue, OpenQueue_ReportsRefusal) {
  FakeTtfdServer server(ttfd::testing::FakeOptions{.devices = 2});
  Session session = MustConnect(server);
  EXPECT_TRUE(session.OpenQueue({.device = 1}).ok());
  const Status status = session.OpenQueue({.device = 2}).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.error().field, "open_queues.device");
  EXPECT_EQ(status.execution_state(), ExecutionState::kNotStarted);
  EXPECT_TRUE(session.AllocateDram(64).ok());
  const Result<Position> fine = session.queue().EnqueueBarrier();
  EXPECT_TRUE(session.queue().Wait(*fine).ok());
  const Result<Queue> next = session.OpenQueue({});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->id(), 3u) << "the number that was refused";
}

TEST(ClientQueue, Session_HasDeviceOfOptions) {
  FakeTtfdServer server(ttfd::testing::FakeOptions{.devices = 3});
  Result<Session> session = Session::Connect({.address = server.address(), .device = 2});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ(session->device().index, 2u);
  setenv("TTFD_DEVICE", "1", 1);
  Result<Session> other = Session::Connect({.address = server.address()});
  setenv("TTFD_DEVICE", "one", 1);
  const Status wrong = Session::Connect({.address = server.address()}).status();
  unsetenv("TTFD_DEVICE");
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_EQ(other->device().index, 1u);
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.error().field, "device");
}

TEST(ClientQueue, Cancel_PassesFullWindow) {
  FakeTtfdServer server(
      ttfd::testing::FakeOptions{.window_bytes = 16 << 10, .advertise_window = false});
  Result<Session> session = Session::Connect(
      {.address = server.address(), .call_timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(session.ok());
  LaunchRequest hangs;
  hangs.Timeout(std::chrono::milliseconds(ttfd::testing::kLaunchHangs));
  Queue queue = session->queue();
  const Result<Position> hung = queue.EnqueueLaunch(hangs);
  ASSERT_TRUE(hung.ok() && queue.EnqueueBarrier().ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (server.seen().commands < 2 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(session->Poll(std::chrono::milliseconds(2)).ok());
  }
  Status status;
  while (status.ok()) {
    status = queue.EnqueueBarrier().status();
  }
  ASSERT_EQ(status.code(), Code::kDeadlineExceeded) << "the window has no space";
  ASSERT_TRUE(queue.Cancel(hung->value + 1).ok());
  EXPECT_EQ(queue.Wait({queue.id(), hung->value + 1}, std::chrono::seconds(10)).code(),
            Code::kCancelled);
  EXPECT_EQ(server.seen().cancels.size(), 1u);
}

TEST(ClientQueue, AWaitTravelsWithTheNextCommandOnly) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Queue compute = session.queue();
  Result<Queue> transfer = session.OpenQueue({.kind = QueueKind::kTransfer});
  ASSERT_TRUE(transfer.ok());
  const Result<Position> first = transfer->EnqueueBarrier();
  const Result<Position> second = transfer->EnqueueBarrier();
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(compute.EnqueueBarrier().ok());
  const std::vector<Position> both = {*first, *second};
  ASSERT_TRUE(compute.After(both).ok());
  ASSERT_TRUE(compute.EnqueueBarrier().ok());
  ASSERT_TRUE(compute.EnqueueBarrier().ok());
  ASSERT_TRUE(compute.Finish().ok());

  const std::vector<v1::Batch> batches = server.seen().batches;
  ASSERT_GE(batches.size(), 3u);
  // What is waited for comes first, so the daemon knows it when it reads the wait.
  const v1::Batch& waited_for = batches[batches.size() - 3];
  const v1::Batch& before = batches[batches.size() - 2];
  const v1::Batch& waiting = batches[batches.size() - 1];
  EXPECT_EQ(waited_for.queue(), transfer->id());
  EXPECT_EQ(before.waits_size(), 0);
  ASSERT_EQ(waiting.waits_size(), 2);
  EXPECT_EQ(waiting.commands_size(), 2);
  EXPECT_EQ(waiting.waits(1).queue(), transfer->id());
  EXPECT_EQ(waiting.waits(1).value(), second->value);
}

}  // namespace
}  // namespace ttfd::client::client_queue_test
