// SessionQueues: commands in, messages out; messages in, results out; and the handles of resources.
#include <gtest/gtest.h>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/session_queues.h"
#include "tests/support/fake_ttfd_link.h"

namespace ttfd::client::client_queues_test {
namespace {

using ttfd::testing::FakeError;

Limits DaemonLimits(uint32_t commands_per_batch = 4096) {
  Limits limits;
  limits.message_bytes = 4 << 20;
  limits.commands_per_batch = commands_per_batch;
  limits.command_bytes = 512;
  return limits;
}

class ClientSessionQueues : public ::testing::Test {
 protected:
  ClientSessionQueues() {
    queues_.outbox().SetLimits(MessageLimits::From(DaemonLimits(), 64));
    queues_.outbox().window().Advertise(8 << 20);
  }
  v1::ClientMessage Sent() {
    queues_.outbox().RequestSend();
    v1::ClientMessage* next = queues_.outbox().Next([](v1::ClientMessage*) {});
    const v1::ClientMessage message = *next;
    queues_.outbox().MarkSent(next);
    return message;
  }
  SessionQueues::Changes Apply(const v1::ServerMessage& message) {
    SessionQueues::Changes changes;
    queues_.Apply(message, &changes);
    return changes;
  }
  static v1::ServerMessage Ended(uint32_t queue, uint64_t value) {
    v1::ServerMessage message;
    message.add_progress()->set_queue(queue);
    message.mutable_progress(0)->set_value(value);
    return message;
  }
  static v1::ServerMessage Failed(uint32_t queue, uint64_t value, int code) {
    v1::ServerMessage message = value == 0 ? v1::ServerMessage() : Ended(queue, value);
    v1::CommandError* error = message.add_errors();
    error->set_queue(queue);
    error->set_first_value(value);
    error->set_last_value(value);
    *error->mutable_status() = FakeError(code, "TEST", "test");
    return message;
  }
  Position Barrier(uint32_t queue) {
    return queues_.Append(queue, kSmallCommand,
                          [](v1::Command* command) { command->mutable_barrier(); });
  }

  SessionQueues queues_{100};
};

TEST_F(ClientSessionQueues, Session_OpensControlAndUserQueue) {
  const v1::ClientMessage message = Sent();
  ASSERT_EQ(message.open_queues_size(), 2);
  EXPECT_EQ(message.open_queues(0).queue(), 0u);
  EXPECT_EQ(message.open_queues(1).queue(), 1u);
  EXPECT_EQ(message.open_queues(0).kind(), v1::QUEUE_KIND_COMPUTE);
  EXPECT_FALSE(message.open_queues(1).has_device()) << "that of the session";
}

TEST_F(ClientSessionQueues, OpenQueue_NamesDeviceKindAndWorkers) {
  Sent();
  const Position opened = queues_.OpenQueue(
      {.kind = QueueKind::kTransfer, .workers = {CoreRange{1, 2, 3, 4}}, .device = 5});
  EXPECT_EQ(opened, (Position{2, 1}));
  const v1::ClientMessage message = Sent();
  ASSERT_EQ(message.open_queues_size(), 1);
  EXPECT_EQ(message.open_queues(0).queue(), 2u);
  EXPECT_EQ(message.open_queues(0).device(), 5u);
  EXPECT_EQ(message.open_queues(0).kind(), v1::QUEUE_KIND_TRANSFER);
  EXPECT_EQ(message.open_queues(0).workers(0).y1(), 4u);
  ASSERT_EQ(message.batches_size(), 1);
  EXPECT_TRUE(message.batches(0).commands(0).has_barrier());
}

TEST_F(ClientSessionQueues, OpenError_FailsQueueForGood) {
  const Position opened = queues_.OpenQueue({});
  Apply(Failed(opened.queue, 0, 5));
  Apply(Failed(opened.queue, 1, 10));
  Timeline& timeline = queues_.timeline(opened.queue);
  EXPECT_EQ(timeline.Outcome(1).code(), Code::kNotFound) << "the cause, not what follows from it";
  timeline.ClearError();
  EXPECT_EQ(timeline.FirstError().code(), Code::kNotFound);
  EXPECT_TRUE(timeline.next_header().plain());
}

TEST_F(ClientSessionQueues, OpenQueue_ReusesFailedNumber) {
  const Position opened = queues_.OpenQueue({});
  Apply(Failed(opened.queue, 0, 5));
  Apply(Failed(opened.queue, 1, 10));
  queues_.ReuseNumber(opened.queue);
  Sent();
  const Position again = queues_.OpenQueue({});
  EXPECT_EQ(again, (Position{opened.queue, 2})) << "its values continue";
  const v1::ClientMessage message = Sent();
  EXPECT_EQ(message.open_queues(0).queue(), opened.queue);
  EXPECT_FALSE(message.batches(0).has_clears_error());
  Apply(Ended(opened.queue, 2));
  EXPECT_TRUE(queues_.timeline(opened.queue).Outcome(2).ok());
  EXPECT_TRUE(queues_.timeline(opened.queue).FirstError().ok());
}

TEST_F(ClientSessionQueues, Batches_BreakAtHeadersAndLimit) {
  queues_.outbox().SetLimits(MessageLimits::From(DaemonLimits(3), 64));
  for (int i = 0; i < 4; ++i) {
    Barrier(1);
  }
  queues_.timeline(1).next_header().waits.push_back({0, 1});
  Barrier(1);
  Barrier(1);
  const v1::ClientMessage message = Sent();
  ASSERT_EQ(message.batches_size(), 3);
  EXPECT_EQ(message.batches(0).commands_size(), 3);
  EXPECT_EQ(message.batches(1).first_value(), 4u);
  EXPECT_EQ(message.batches(2).first_value(), 5u);
  EXPECT_EQ(message.batches(2).waits_size(), 1);
  EXPECT_EQ(message.batches(2).commands_size(), 2);
}

TEST_F(ClientSessionQueues, Progress_OfUserQueuesIsReported) {
  Barrier(0);
  Barrier(1);
  EXPECT_TRUE(Apply(Ended(0, 1)).progress.empty());
  EXPECT_EQ(Apply(Ended(1, 1)).progress, (std::vector<Position>{{1, 1}}));
  EXPECT_TRUE(Apply(Ended(1, 1)).progress.empty()) << "nothing new";
  EXPECT_TRUE(queues_.AllEnded());
}

TEST_F(ClientSessionQueues, Apply_IgnoresUnknownQueues) {
  v1::ServerMessage message = Ended(77, 1);
  message.add_data()->set_queue(77);
  message.add_errors()->set_queue(77);
  EXPECT_TRUE(Apply(message).progress.empty());
  EXPECT_TRUE(Apply(Ended(1, 5)).progress.empty()) << "no such command was sent";
}

TEST_F(ClientSessionQueues, Frees_GatherWhileThereIsNoSpace) {
  Sent();
  while (queues_.outbox().HasSpaceFor(kSmallCommand)) {
    Barrier(1);
  }
  for (uint64_t handle = 1; handle <= 1000; ++handle) {
    queues_.handles().Free(handle);
    queues_.AppendFrees();
  }
  EXPECT_LE(queues_.outbox().Cost(), MessageLimits::kMostGathered);
  Sent();
  queues_.AppendFrees();
  const v1::ClientMessage message = Sent();
  ASSERT_EQ(message.batches_size(), 1);
  int handles = 0;
  for (const v1::Command& command : message.batches(0).commands()) {
    handles += command.free().handles_size();
  }
  EXPECT_EQ(handles, 1000);
  EXPECT_LE(message.batches(0).commands_size(), 4);
}

TEST_F(ClientSessionQueues, Free_AbortedByOtherErrorIsRepeated) {
  Sent();
  Barrier(0);  // a creation that fails
  queues_.handles().Free(7);
  queues_.AppendFrees();
  Sent();
  Apply(Failed(0, 1, 5));
  Apply(Failed(0, 2, 10));
  const v1::ClientMessage message = Sent();
  ASSERT_EQ(message.batches_size(), 1);
  EXPECT_EQ(message.batches(0).clears_error(), 1u);
  ASSERT_EQ(message.batches(0).commands_size(), 1);
  EXPECT_EQ(message.batches(0).commands(0).free().handles(0), 7u);
}

TEST_F(ClientSessionQueues, Handles_AreGreaterThanBefore) {
  EXPECT_EQ(queues_.handles().New(), 101u);
  EXPECT_EQ(queues_.handles().last(), 101u);
}

TEST_F(ClientSessionQueues, DescribeLoss_CountsWhatIsGone) {
  queues_.handles().Add(1, ResourceKind::kBuffer);
  queues_.handles().Add(2, ResourceKind::kBuffer);
  queues_.handles().Add(3, ResourceKind::kTrace);
  queues_.handles().Add(4, ResourceKind::kKernel);
  queues_.handles().Free(4);
  Barrier(1);
  EXPECT_EQ(queues_.DescribeLoss(),
            "gone: 2 buffers, 0 kernels, 0 programs, 1 trace, 1 command without an answer");
}

}  // namespace
}  // namespace ttfd::client::client_queues_test
