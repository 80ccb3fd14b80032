// libttfd's promises about queues: their kind and workers, and what waits for what.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client {
namespace {

using ttfd::testing::FakeTtfdServer;

Session MustConnect(const FakeTtfdServer& server) {
  Result<Session> session =
      Session::Connect({.address = server.address(), .call_timeout = std::chrono::seconds(10)});
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

// The last command of the kind that the daemon has seen.
v1::OpenQueue LastOpened(FakeTtfdServer* server) {
  v1::OpenQueue last;
  for (const v1::Batch& batch : server->seen().batches) {
    for (const v1::Command& command : batch.commands()) {
      last = command.has_open_queue() ? command.open_queue() : last;
    }
  }
  return last;
}

TEST(ClientQueue, SaysItsKindAndItsWorkers) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  ASSERT_TRUE(session.OpenQueue(QueueKind::kTransfer).ok());
  EXPECT_EQ(LastOpened(&server).kind(), v1::QUEUE_KIND_TRANSFER);
  EXPECT_EQ(LastOpened(&server).workers_size(), 0);

  const Result<Queue> queue =
      session.OpenQueue(QueueKind::kCompute, {CoreRange{0, 0, 5, 9}, CoreRange{6, 0, 6, 4}});
  ASSERT_TRUE(queue.ok());
  const v1::OpenQueue opened = LastOpened(&server);
  EXPECT_EQ(opened.queue(), queue->id());
  EXPECT_EQ(opened.kind(), v1::QUEUE_KIND_COMPUTE);
  ASSERT_EQ(opened.workers_size(), 2);
  EXPECT_EQ(opened.workers(0).x1(), 5u);
  EXPECT_EQ(opened.workers(0).y1(), 9u);
  EXPECT_EQ(opened.workers(1).x0(), 6u);
  EXPECT_EQ(opened.workers(1).y1(), 4u);
}

TEST(ClientQueue, AWaitTravelsWithTheNextCommandOnly) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Queue compute = session.queue();
  Result<Queue> transfer = session.OpenQueue(QueueKind::kTransfer);
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
}  // namespace ttfd::client
