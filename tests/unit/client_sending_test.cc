// What libttfd sends: batches, pieces, within the window.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_sending_test {
namespace {

using ttfd::testing::FakeOptions;
using ttfd::testing::FakeTtfdServer;

Session MustConnect(const FakeTtfdServer& server, ConnectOptions options = {}) {
  options.address = server.address();
  options.call_timeout = std::chrono::seconds(10);
  Result<Session> session = Session::Connect(options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

TEST(ClientSending, EnqueuedCommandsGatherIntoBatches) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Queue queue = session.queue();
  for (int i = 0; i < 6400; ++i) {
    ASSERT_TRUE(queue.EnqueueBarrier().ok());
  }
  ASSERT_TRUE(queue.Finish().ok());
  EXPECT_EQ(queue.completed(), 6400u);
  EXPECT_LE(server.seen().messages, 6400u / 64);
}

TEST(ClientSending, NothingLeavesBeforeItIsAskedFor) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  ASSERT_TRUE(session.AllocateDram(64).ok());  // what opened the session has arrived
  const uint64_t before = server.seen().messages;
  ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  EXPECT_EQ(server.seen().messages, before);
  EXPECT_EQ(session.queue().completed(), 0u);
  ASSERT_TRUE(session.queue().Flush().ok());
  ASSERT_TRUE(session.queue().Finish().ok());
  EXPECT_EQ(server.seen().messages, before + 1);
}

TEST(ClientSending, ABatchNeverExceedsTheDaemonsLimit) {
  FakeTtfdServer server(FakeOptions{.commands_per_batch = 5});
  Session session = MustConnect(server);
  for (int i = 0; i < 23; ++i) {
    ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  }
  ASSERT_TRUE(session.queue().Finish().ok());
  for (const v1::Batch& batch : server.seen().batches) {
    EXPECT_LE(batch.commands_size(), 5);
  }
}

TEST(ClientSending, LargePayloadTravelsInChunksOfSmallMessages) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(10 << 20);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> bytes(10 << 20, std::byte{7});
  ASSERT_TRUE(session.queue().Write(*buffer, 0, bytes).ok());
  EXPECT_EQ(server.seen().payload_bytes, bytes.size());
  EXPECT_LE(server.seen().largest_chunk, 64u << 10);
  EXPECT_LT(server.seen().largest_message, 1u << 20);
}

TEST(ClientSending, ManyInlineWritesStayBelowTheMessageLimit) {
  FakeTtfdServer server;
  Session session = MustConnect(server, {.batch_commands = 100'000});
  Result<Buffer> buffer = session.AllocateDram(64 << 10);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> bytes(64 << 10, std::byte{7});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(session.queue().EnqueueWrite(*buffer, 0, bytes).ok());
  }
  ASSERT_TRUE(session.queue().Finish().ok());
  EXPECT_LT(server.seen().largest_message, 1u << 20);
}

TEST(ClientSending, Commands_StayWithinWindow) {
  FakeTtfdServer server(
      FakeOptions{.window_bytes = 8 << 10, .inline_bytes = 1 << 10, .chunk_bytes = 1 << 10});
  Session session = MustConnect(server);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  }
  // The fake ends the call at the first byte too many.
  ASSERT_TRUE(session.queue().Finish().ok());
  EXPECT_EQ(session.queue().completed(), 1000u);
  EXPECT_GT(server.seen().cost, 8u << 10);
}

TEST(ClientSending, Payload_LargerThanWindowArrives) {
  FakeTtfdServer server(FakeOptions{.window_bytes = 98'304});
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(2 << 20);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> bytes(2 << 20, std::byte{7});
  const Status status = session.queue().Write(*buffer, 0, bytes);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(server.seen().payload_bytes, bytes.size());
}

TEST(ClientSending, FullWindow_IsDeadlineNotHang) {
  FakeTtfdServer server(FakeOptions{.window_bytes = 8 << 10,
                                    .advertise_window = false,
                                    .inline_bytes = 1 << 10,
                                    .chunk_bytes = 1 << 10});
  Result<Session> session = Session::Connect({.address = server.address(),
                                              .call_timeout = std::chrono::milliseconds(200),
                                              .batch_commands = 8});
  ASSERT_TRUE(session.ok());
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = session->queue().EnqueueBarrier().status();
  }
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(status.reason(), "WAIT");
  EXPECT_LE(server.seen().cost, 8u << 10);
  EXPECT_TRUE(session->status().ok()) << "the session lives";
}

TEST(ClientSending, OversizedCommand_IsRefused) {
  FakeTtfdServer server(FakeOptions{.message_bytes = 1 << 20});
  Session session = MustConnect(server);
  Result<Kernel> kernel = session.LoadKernel(std::vector<std::byte>(16), "k");
  ProgramBuilder builder;
  builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  Result<Program> program = session.CreateProgram(builder);
  LaunchRequest launch(*program);
  launch.Common(0, std::vector<uint32_t>(300'000));
  const Status bytes = session.queue().Launch(launch);
  EXPECT_EQ(bytes.code(), Code::kResourceExhausted);
  EXPECT_EQ(bytes.error().limit, "message_bytes");
  EXPECT_TRUE(session.AllocateDram(64).ok()) << "the session lives";
}

TEST(ClientSending, Acks_FollowAtQuarterOfLimit) {
  // The fake writes nothing while more than this is not acknowledged.
  FakeTtfdServer server(FakeOptions{.unacknowledged_bytes = 256 << 10});
  Session session = MustConnect(server);
  std::vector<std::byte> bytes(4 << 20);
  Result<Buffer> buffer = session.AllocateDram(bytes.size());
  ASSERT_TRUE(buffer.ok());
  const Status status = session.queue().Read(*buffer, 0, bytes);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_GE(server.seen().acks, bytes.size() / (256 << 10));
}

TEST(ClientSending, Ack_IsSentWhilePolling) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(session.AllocateDram(64).ok());
  const uint64_t early = server.seen().acks;
  // Due 20 ms after what it is for, which may be before the call ends.
  EXPECT_TRUE(early == 0 ||
              std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(20));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (server.seen().acks == 0 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(session.Poll(std::chrono::milliseconds(50)).ok());
  }
  EXPECT_EQ(server.seen().acks, 1u);
}

TEST(ClientSending, Ack_IsSentByBackgroundThread) {
  FakeTtfdServer server;
  Session session = MustConnect(server, {.background_thread = true});
  ASSERT_TRUE(session.AllocateDram(64).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (server.seen().acks == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(server.seen().acks, 1u);
}

TEST(ClientSending, LaunchArgumentsArriveAsTheyWereGiven) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(64);
  Result<Kernel> kernel = session.LoadKernel(std::vector<std::byte>(16), "k");
  ProgramBuilder builder;
  const uint32_t k = builder.AddKernel(*kernel, Processor::kNcrisc, {CoreRange{0, 0, 1, 0}});
  builder.AddCircularBuffer(2, 3, 4096, {CoreRange{0, 0, 1, 0}}, DataFormat::kInt32)
      .AddCircularBuffer(3, 1, 64, {CoreRange{}})
      .AddCircularBuffer(4, 1, 64, {CoreRange{}}, DataFormat::kNone, *buffer)
      .AddSemaphore(1, 9, {CoreRange{}});
  Result<Program> program = session.CreateProgram(builder);
  ASSERT_TRUE(program.ok());
  const v1::CreateProgram created =
      server.seen().batches.back().commands().rbegin()->create_program();
  EXPECT_EQ(created.kernels(0).processor(), v1::PROCESSOR_NCRISC);
  EXPECT_EQ(created.circular_buffers(0).pages(), 3u);
  EXPECT_EQ(created.circular_buffers(0).format(), v1::DATA_FORMAT_INT32);
  EXPECT_EQ(created.circular_buffers(1).format(), v1::DATA_FORMAT_UNSPECIFIED);
  EXPECT_FALSE(created.circular_buffers(1).has_buffer());
  EXPECT_EQ(created.circular_buffers(2).buffer(), buffer->handle());
  EXPECT_EQ(created.semaphores(0).initial(), 9u);

  LaunchRequest launch(*program);
  launch.Common(k, {1, 0, 3}).Address(k, 1, *buffer).PerCore(k, 2, {4, 5, 6, 7});
  launch.Timeout(std::chrono::milliseconds(1234));
  ASSERT_TRUE(session.queue().Launch(launch).ok());
  const v1::Launch seen = server.seen().batches.back().commands(0).launch();
  EXPECT_EQ(seen.timeout_ms(), 1234u);
  ASSERT_EQ(seen.arguments_size(), 1);
  EXPECT_EQ(seen.arguments(0).common(2), 3u);
  EXPECT_EQ(seen.arguments(0).words_per_core(), 2u);
  EXPECT_EQ(seen.arguments(0).per_core(3), 7u);
  EXPECT_EQ(seen.arguments(0).buffers(0).buffer(), buffer->handle());
}

TEST(ClientSending, ComputeKernel_IsAddedToItsProcessorsAndGetsOneSetOfArguments) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(64);
  std::array<Kernel, 3> kernels;
  for (Kernel& kernel : kernels) {
    kernel = *session.LoadKernel(std::vector<std::byte>(16), "k");
  }
  const ComputeKernel compute(std::move(kernels));
  const std::vector<CoreRange> cores = {CoreRange{0, 0, 1, 0}};
  ProgramBuilder builder;
  builder.AddKernel(compute.kernels()[0], Processor::kBrisc, cores);
  const ComputeIndices added = builder.AddKernels(compute, cores);
  Result<Program> program = session.CreateProgram(builder);
  ASSERT_TRUE(program.ok());
  const v1::CreateProgram created =
      server.seen().batches.back().commands().rbegin()->create_program();
  ASSERT_EQ(created.kernels_size(), 4);

  LaunchRequest launch(*program);
  launch.Common(added, {1, 0}).Address(added, 1, *buffer, 32).PerCore(added, 1, {8, 9});
  ASSERT_TRUE(session.queue().Launch(launch).ok());
  const v1::Launch seen = server.seen().batches.back().commands(0).launch();
  ASSERT_EQ(seen.arguments_size(), 3);
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(created.kernels(1 + i).kernel(), compute.kernels()[static_cast<size_t>(i)].handle());
    EXPECT_EQ(created.kernels(1 + i).processor(), v1::PROCESSOR_TRISC0 + i);
    EXPECT_EQ(created.kernels(1 + i).cores(0).x1(), 1u);
    EXPECT_EQ(seen.arguments(i).kernel(), 1u + static_cast<uint32_t>(i));
    EXPECT_EQ(seen.arguments(i).common(0), 1u);
    EXPECT_EQ(seen.arguments(i).buffers(0).offset(), 32u);
    EXPECT_EQ(seen.arguments(i).per_core(1), 9u);
  }
}

}  // namespace
}  // namespace ttfd::client::client_sending_test
