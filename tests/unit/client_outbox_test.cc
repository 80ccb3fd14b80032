// What a message costs, what fits into it, and in which order messages leave.
#include <gtest/gtest.h>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/outbox.h"

namespace ttfd::client::client_outbox_test {
namespace {

constexpr uint64_t kCommandBytes = 512;

Limits DaemonLimits() {
  Limits limits;
  limits.message_bytes = 4 << 20;
  limits.chunk_bytes = 64 << 10;
  limits.inline_bytes = 64 << 10;
  limits.commands_per_batch = 4096;
  limits.command_bytes = kCommandBytes;
  limits.nested_messages = 1 << 17;
  return limits;
}

class ClientOutbox : public ::testing::Test {
 protected:
  ClientOutbox() {
    outbox_.SetLimits(MessageLimits::From(DaemonLimits(), 64));
    outbox_.window().Advertise(8 << 20);
  }

  v1::Command* Add(uint32_t queue, uint64_t value, const MessageSize& size = kSmallCommand) {
    return outbox_.AddCommand(queue, value, BatchHeader(), size);
  }
  v1::ClientMessage* Next() {
    return outbox_.Next([](v1::ClientMessage* message) {
      message->set_sequence(7);
      message->set_ack(9);
    });
  }
  // What the daemon counts.
  static uint64_t DaemonCost(const v1::ClientMessage& message) {
    uint64_t cost = message.ByteSizeLong();
    for (const v1::Batch& batch : message.batches()) {
      cost += kCommandBytes * static_cast<uint64_t>(batch.commands_size());
    }
    return cost;
  }
  // The cost is exact, and the estimate of the size not too small.
  void ExpectExact() {
    EXPECT_EQ(outbox_.Cost(), DaemonCost(outbox_.message())) << outbox_.message().DebugString();
    EXPECT_GE(outbox_.size().bytes, outbox_.message().ByteSizeLong());
  }

  Outbox outbox_;
};

LaunchRequest AnyLaunch(uint32_t kernels) {
  LaunchRequest launch;
  launch.Timeout(std::chrono::milliseconds(5));
  for (uint32_t k = 0; k < kernels; ++k) {
    launch.Common(k, {1, 2, 3}).PerCore(k, 2, {4, 5, 6, 7});
    for (uint32_t word = 0; word < k; ++word) {
      launch.Address(k, word, Buffer());
    }
  }
  return launch;
}

TEST_F(ClientOutbox, Cost_OfCommandsIsExact) {
  Add(1, 1)->mutable_barrier();
  Add(1, 2)->mutable_read()->set_size(1 << 20);
  Add(1, 3)->mutable_free()->add_handles(UINT64_MAX);
  BatchHeader header{.waits = {{1, 2}, {2, UINT64_MAX}}, .start_within_ms = 3, .clears_error = 4};
  outbox_.AddCommand(2, 4, header, kSmallCommand)->mutable_fill()->set_size(1);
  for (const uint32_t kernels : {0u, 1u, 4u}) {
    const LaunchRequest launch = AnyLaunch(kernels);
    ToProto(launch, Add(2, 5 + kernels, SizeOf(launch))->mutable_launch());
  }
  ExpectExact();
}

TEST_F(ClientOutbox, Cost_OfProgramsIsExact) {
  ProgramBuilder builder;
  builder.AddKernel(Kernel(), Processor::kBrisc, {CoreRange{0, 0, 5, 5}, CoreRange{6, 0, 7, 1}});
  builder.AddKernel(Kernel(), Processor::kNcrisc, {});
  builder.AddCircularBuffer(1, 2, 32, {CoreRange{}}).AddSemaphore(3, 4, {CoreRange{}, CoreRange{}});
  ToProto(builder, Add(0, 1, SizeOf(builder))->mutable_create_program());
  ExpectExact();
}

TEST_F(ClientOutbox, Cost_OfAllocationsIsExact) {
  const std::vector<CoreRange> cores = {CoreRange{}, CoreRange{1, 1, 2, 2}};
  uint64_t value = 0;
  const auto add = [&](const auto& options) {
    v1::Allocate* allocate = Add(0, ++value, SizeOf(options))->mutable_allocate();
    allocate->set_handle(UINT64_MAX);
    allocate->set_size_bytes(UINT64_MAX);
    ToProto(options, allocate);
  };
  add(DramOptions{});
  add(DramOptions{.bank = 3});
  add(L1Options{});
  add(L1Options{.cores = cores});
  add(ShardOptions{.cores = cores});
  ExpectExact();
}

TEST_F(ClientOutbox, Cost_OfTracesIsExact) {
  const LaunchRequest launch = AnyLaunch(3);
  v1::RecordTrace* record =
      Add(1, 1, kRecordTrace + SizeInTrace(launch) + SizeInTrace(launch))->mutable_record_trace();
  ToProto(launch, record->add_launches());
  ToProto(launch, record->add_launches());
  ReplayRequest replay{Trace()};
  replay.Patch(0, launch).Patch(1, launch);
  ToProto(replay, Add(1, 2, SizeOf(replay))->mutable_replay_trace());
  ExpectExact();
}

TEST_F(ClientOutbox, Cost_OfMixedMessageIsExact) {
  const std::vector<std::byte> payload(1000);
  outbox_.AddOpenQueue(3, {.workers = {CoreRange{}, CoreRange{1, 1, 2, 2}}});
  Add(1, 1)->mutable_barrier();
  outbox_.AddData({1, 1}, 0, payload);
  outbox_.AddCancel({1, 1}, 1);
  outbox_.AddFinish();
  ExpectExact();
}

TEST_F(ClientOutbox, Estimate_IsNeverTooSmall) {
  const LaunchRequest launch = AnyLaunch(4);
  ToProto(launch, Add(UINT32_MAX, UINT64_MAX, SizeOf(launch))->mutable_launch());
  v1::Copy* copy = Add(UINT32_MAX, UINT64_MAX)->mutable_copy();
  copy->set_from(UINT64_MAX);
  copy->set_from_offset(UINT64_MAX);
  copy->set_to(UINT64_MAX);
  copy->set_to_offset(UINT64_MAX);
  copy->set_size(UINT64_MAX);
  outbox_.AddOpenQueue(UINT32_MAX, {.workers = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
                                    .device = UINT32_MAX});
  outbox_.AddData({UINT32_MAX, UINT64_MAX}, UINT64_MAX, std::vector<std::byte>(100));
  EXPECT_GE(outbox_.size().bytes, outbox_.message().ByteSizeLong());
}

TEST_F(ClientOutbox, Cost_IsZeroWithoutBatchesAndData) {
  outbox_.AddOpenQueue(0, {});
  outbox_.AddFinish();
  EXPECT_EQ(outbox_.Cost(), 0u);
}

TEST_F(ClientOutbox, Window_ChargesExactCost) {
  Add(1, 1)->mutable_barrier();
  outbox_.RequestSend();
  v1::ClientMessage* next = Next();
  ASSERT_NE(next, nullptr);
  const uint64_t cost = DaemonCost(*next);
  outbox_.MarkSent(next);
  EXPECT_EQ(outbox_.window().available(), (8 << 20) - cost);
}

TEST_F(ClientOutbox, Window_ExactlyEnoughIsEnough) {
  Outbox outbox;
  outbox.SetLimits(MessageLimits::From(DaemonLimits(), 64));
  outbox.AddCommand(1, 1, BatchHeader(), kSmallCommand)->mutable_barrier();
  outbox.RequestSend();
  v1::ClientMessage stamped = outbox.message();
  stamped.set_sequence(1);
  const uint64_t cost = DaemonCost(stamped);
  const auto stamp = [](v1::ClientMessage* message) { message->set_sequence(1); };
  outbox.window().Advertise(cost - 1);
  EXPECT_EQ(outbox.Next(stamp), nullptr);
  outbox.window().Advertise(cost);
  EXPECT_NE(outbox.Next(stamp), nullptr);
}

TEST_F(ClientOutbox, Window_NeverShrinks) {
  Window window;
  window.Advertise(100);
  window.Advertise(50);
  window.Charge(60);
  EXPECT_EQ(window.available(), 40u);
}

TEST_F(ClientOutbox, Next_WaitsForRequest) {
  Add(1, 1)->mutable_barrier();
  EXPECT_EQ(Next(), nullptr);
  outbox_.RequestSend();
  EXPECT_NE(Next(), nullptr);
}

TEST_F(ClientOutbox, HasSpaceFor_EndsAtGatherCost) {
  uint64_t value = 0;
  while (outbox_.HasSpaceFor(kSmallCommand)) {
    Add(1, ++value)->mutable_barrier();
  }
  EXPECT_LE(outbox_.Cost(), MessageLimits::kMostGathered);
  EXPECT_GT(value, 800u);
}

TEST_F(ClientOutbox, HasSpaceFor_EndsAtFourBytesForEachNestedMessage) {
  Limits limits = DaemonLimits();
  limits.nested_messages = 32768;
  outbox_.SetLimits(MessageLimits::From(limits, 64));
  uint64_t value = 0;
  while (outbox_.HasSpaceFor(kSmallCommand)) {
    Add(1, ++value)->mutable_barrier();
  }
  EXPECT_LE(outbox_.Cost(), 4u * 32768);
  EXPECT_GT(outbox_.Cost(), 3u * 32768);
}

TEST_F(ClientOutbox, HasSpaceFor_FollowsWindow) {
  constexpr uint64_t kAvailable = 200'000;
  outbox_.window().Charge(outbox_.window().available() - kAvailable);
  uint64_t value = 0;
  while (outbox_.HasSpaceFor(kSmallCommand)) {
    Add(1, ++value)->mutable_barrier();
  }
  EXPECT_LE(outbox_.Cost(), kAvailable);
  outbox_.RequestSend();
  EXPECT_NE(Next(), nullptr);
}

TEST_F(ClientOutbox, HasSpaceFor_GuaranteedCostWithoutWindow) {
  outbox_.window().Charge(outbox_.window().available());
  uint64_t value = 0;
  while (outbox_.HasSpaceFor(kSmallCommand)) {
    Add(1, ++value)->mutable_barrier();
  }
  // What the API guarantees once all commands have ended: 1.5 chunks.
  EXPECT_LE(outbox_.Cost(), 96u << 10);
  EXPECT_GT(outbox_.Cost(), 48u << 10);
  Add(1, ++value, MessageSize{64 << 10, 1});
  EXPECT_FALSE(outbox_.HasSpaceFor(kSmallCommand));
}

TEST_F(ClientOutbox, Check_RefusesOversizedCommand) {
  const MessageLimits& limits = outbox_.limits();
  EXPECT_TRUE(limits.Check({4 << 20, 1}).ok());
  const Status bytes = limits.Check({(4 << 20) + 1, 1});
  EXPECT_EQ(bytes.code(), Code::kResourceExhausted);
  EXPECT_EQ(bytes.error().limit, "message_bytes");
}

TEST_F(ClientOutbox, Cancel_OfSentCommandsPassesBlockedMessage) {
  Add(1, 5, MessageSize{9 << 20, 1})->mutable_write()->set_inline_(std::string(9 << 20, 'x'));
  outbox_.RequestSend();
  ASSERT_EQ(Next(), nullptr) << "the window has no space";
  outbox_.AddCancel({1, 2}, 4);
  outbox_.AddCancel({1, 3}, 4);
  v1::ClientMessage* next = Next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->batches_size(), 0);
  ASSERT_EQ(next->cancels_size(), 1);
  EXPECT_EQ(next->cancels(0).from_value(), 2u) << "the first of both";
  outbox_.MarkSent(next);
  EXPECT_EQ(Next(), nullptr);
  EXPECT_EQ(outbox_.window().available(), 8u << 20);
}

TEST_F(ClientOutbox, Cancel_FollowsUnsentCommands) {
  Add(1, 5)->mutable_barrier();
  outbox_.AddCancel({1, 5}, 5);
  v1::ClientMessage* next = Next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->batches_size(), 1);
  EXPECT_EQ(next->cancels_size(), 1);
  EXPECT_FALSE(outbox_.HasSpaceFor(kSmallCommand)) << "it must not cover a later command";
  outbox_.MarkSent(next);
  EXPECT_TRUE(outbox_.HasSpaceFor(kSmallCommand));
  EXPECT_EQ(Next(), nullptr) << "nothing sent before was cancelled";
}

TEST_F(ClientOutbox, Cancel_OfBothIsSentTwice) {
  Add(1, 5)->mutable_barrier();
  outbox_.AddCancel({1, 3}, 5);
  v1::ClientMessage* first = Next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->batches_size(), 0);
  outbox_.MarkSent(first);
  v1::ClientMessage* second = Next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->batches_size(), 1);
  EXPECT_EQ(second->cancels_size(), 1);
}

TEST_F(ClientOutbox, Finish_ClosesTheMessage) {
  outbox_.AddFinish();
  EXPECT_FALSE(outbox_.HasSpaceFor(kSmallCommand));
  EXPECT_NE(Next(), nullptr);
}

}  // namespace
}  // namespace ttfd::client::client_outbox_test
