// libttfd's promises about what it sends: batches, pieces, credit.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client {
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
  // Two messages of the greeting, and never less than 64 commands in the others.
  EXPECT_LE(server.seen().messages, 2u + 6400 / 64);
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
  EXPECT_LE(server.seen().largest_chunk, 256u << 10);
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

TEST(ClientSending, StaysWithinItsCredit) {
  FakeTtfdServer server(FakeOptions{.credit_commands = 16});
  Session session = MustConnect(server);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  }
  ASSERT_TRUE(session.queue().Finish().ok());
  EXPECT_EQ(session.queue().completed(), 1000u);
  EXPECT_FALSE(server.seen().over_credit);
}

TEST(ClientSending, APayloadLargerThanTheCreditStillArrives) {
  FakeTtfdServer server(FakeOptions{.credit_bytes = 100'000});
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(2 << 20);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> bytes(2 << 20, std::byte{7});
  ASSERT_TRUE(session.queue().Write(*buffer, 0, bytes).ok());
  EXPECT_LE(server.seen().largest_chunk, 100'000u);
}

TEST(ClientSending, OutOfCreditIsADeadlineNotAHang) {
  FakeTtfdServer server(FakeOptions{.credit_commands = 16, .grant_credit = false});
  Result<Session> session = Session::Connect({.address = server.address(),
                                              .call_timeout = std::chrono::milliseconds(200),
                                              .batch_commands = 8});
  ASSERT_TRUE(session.ok());
  Result<Kernel> kernel = session->LoadKernel(std::vector<std::byte>(16), "k");
  ProgramBuilder builder;
  builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  Result<Program> program = session->CreateProgram(builder);
  LaunchRequest hangs(*program);
  hangs.Timeout(std::chrono::milliseconds(ttfd::testing::kLaunchHangs));
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = session->queue().EnqueueLaunch(hangs).status();
  }
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  // With nothing under way one message may go out whatever the credit, and it holds at most a window.
  EXPECT_LE(server.seen().commands, 2 * 16u);
}

TEST(ClientSending, LaunchArgumentsArriveAsTheyWereGiven) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Buffer> buffer = session.AllocateDram(64);
  Result<Kernel> kernel = session.LoadKernel(std::vector<std::byte>(16), "k");
  ProgramBuilder builder;
  const uint32_t k = builder.AddKernel(*kernel, Processor::kNcrisc, {CoreRange{0, 0, 1, 0}});
  builder.AddCircularBuffer(2, 3, 64, {CoreRange{0, 0, 1, 0}}).AddSemaphore(1, 9, {CoreRange{}});
  Result<Program> program = session.CreateProgram(builder);
  ASSERT_TRUE(program.ok());
  const v1::CreateProgram created =
      server.seen().batches.back().commands().rbegin()->create_program();
  EXPECT_EQ(created.kernels(0).processor(), v1::PROCESSOR_NCRISC);
  EXPECT_EQ(created.circular_buffers(0).pages(), 3u);
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

}  // namespace
}  // namespace ttfd::client
