// What a session does when all goes well: the main job, timelines, waits, data both ways, the end of a session.
#include <gmock/gmock.h>

#include "daemon/session/changed_sessions.h"
#include "daemon/session/sha256.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_flow_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SessionFlow : public CoreTest {};

TEST_F(SessionFlow, WritesLaunchesAndReadsInOneBatch) {
  Start();
  auto client = Connect();
  const std::string bytes = Pattern(4096);
  client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2), InlineWrite(1, 0, bytes),
               Launch(3), Read(1, 0, 4096));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), 6u);
  EXPECT_EQ(client->Data(6), bytes);
  EXPECT_THAT(card->log,
              ElementsAre("write 4096", "event", "launch", "event", "read 4096", "event"));
}

TEST_F(SessionFlow, WelcomeDescribesTheCardAndTheLimits) {
  Start();
  auto client = Connect();
  const WelcomeReply& welcome = client->session().welcome();
  EXPECT_EQ(welcome.revision, 1u);
  EXPECT_EQ(welcome.token.size(), 16u);
  ASSERT_EQ(welcome.devices->size(), 1u);
  EXPECT_EQ(welcome.devices->front().card.grid.x, behaviour.grid.x);
  EXPECT_EQ(welcome.limits.queues, options.limits.queues);
  EXPECT_EQ(welcome.window_bytes, options.limits.window_bytes);
}

TEST_F(SessionFlow, BarriersWithNothingBeforeThemNeverReachTheDevice) {
  Start();
  auto client = Connect();
  BatchRequest batch;
  batch.commands.assign(64, BarrierRequest{});
  client->SendBatch(batch);
  client->Take();
  EXPECT_EQ(client->Progress(), 64u);
  EXPECT_THAT(card->log, IsEmpty());
}

TEST_F(SessionFlow, ABarrierEndsAfterTheCommandBeforeIt) {
  Start();
  auto client = Connect();
  card->hold = true;
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)), BarrierRequest{},
               BarrierRequest{});
  for (int i = 0; i < 10; ++i) core->RunOnce();
  client->Take();
  EXPECT_EQ(client->Progress(), 1u) << "only the allocation has ended";
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(), 4u);
}

TEST_F(SessionFlow, ProgressOfAQueueThatContinuesIsPublishedOnceAnInterval) {
  Start();
  auto client = Connect();
  auto other = Connect();
  card->hold = true;
  const auto post = [](TestClient& to, std::vector<Request> commands) {
    MessageRequest message;
    BatchRequest& batch = message.batches.emplace_back();
    batch.first_value = 1;
    batch.costs = {0};
    batch.commands = std::move(commands);
    EXPECT_TRUE(to.session().Accept(std::move(message), [] {}).ok());
  };
  const auto progress_after = [this](TestClient& of, Duration time) {
    clock.Advance(time);
    core->RunOnce();
    of.Take();
    return of.Progress();
  };
  post(*client, {Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024))});
  EXPECT_EQ(progress_after(*client, Duration::zero()), 0u);
  EXPECT_EQ(progress_after(*client, ChangedSessions::kInterval - Duration(1)), 0u);
  post(*other, {Allocate(1, 1024)});
  EXPECT_EQ(progress_after(*other, Duration::zero()), 1u) << "its queue has no more commands";
  EXPECT_EQ(progress_after(*client, Duration(1)), 1u);
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(), 2u) << "without more time";
}

TEST_F(SessionFlow, ABatchWaitsForAnotherQueue) {
  Start();
  auto client = Connect();
  client->OpenQueue(TransferQueue(7));
  client->Send(Allocate(1, 1024));
  client->Run();
  card->hold = true;
  const uint64_t write = client->Send(InlineWrite(1, 0, Pattern(1024)));
  client->SendOn(7, {{0, write}}, Read(1, 0, 1024));
  for (int i = 0; i < 10; ++i) core->RunOnce();
  EXPECT_THAT(card->log,
              ElementsAre("write 1024", "event", "1: wait for 0:1", "1: read 1024", "1: event"))
      << "the card waits, not the daemon";
  EXPECT_EQ(client->Progress(7), 0u);
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->Progress(7), 1u);
  EXPECT_EQ(client->Data(1, 7), Pattern(1024));
}

TEST_F(SessionFlow, ACommandWaitsForTheMakerOfItsHandleOnAnotherQueue) {
  Start();
  auto client = Connect();
  LoadKernelRequest kernel;
  kernel.handle = 2;
  kernel.size = 6;
  kernel.streamed = true;
  client->OpenQueue(ComputeQueue(5));
  client->Send(BarrierRequest{}, kernel);
  client->SendOn(5, {}, OneKernelProgram(3, 2), Launch(3));
  client->Run();
  EXPECT_EQ(client->Progress(5), 0u) << "the kernel's bytes have not come";
  ASSERT_TRUE(client->Supply(0, 2, 0, "elf").ok());
  ASSERT_TRUE(client->Supply(0, 2, 3, "abc").ok());
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(5), 2u);
}

TEST_F(SessionFlow, CommandsOfOneQueueArePipelinedOnTheDevice) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  client->Send(Launch(3), Launch(3), Launch(3));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  EXPECT_THAT(card->log, ElementsAre("launch", "launch", "event", "launch", "event", "event"))
      << "the event of a launch comes behind the next one";
}

// ---- data

TEST_F(SessionFlow, StreamedDataMayComeInAnySizes) {
  Start();
  auto client = Connect();
  const std::string bytes = Pattern(100'000);
  const uint64_t write =
      client->Send(Allocate(1, 100'000), StreamedWrite(1, 0, 100'000), Read(1, 0, 100'000)) + 1;
  uint64_t offset = 0;
  for (const size_t size : {1u, 15u, 16u, 17u, 4096u, 31u, 60'000u}) {
    ASSERT_TRUE(client->Supply(0, write, offset, bytes.substr(offset, size)).ok());
    offset += size;
    client->Run();
  }
  EXPECT_EQ(client->Progress(), 1u);
  ASSERT_TRUE(client->Supply(0, write, offset, bytes.substr(offset)).ok());
  client->Run();
  EXPECT_EQ(client->Progress(), 3u);
  EXPECT_EQ(client->Data(3), bytes);
}

TEST_F(SessionFlow, LargeTransfersAreCutIntoSlices) {
  behaviour.dram_bank_bytes = 8 << 20;
  Start();
  auto client = Connect();
  const uint64_t size = kMaxTransferBytes * 5 / 2;
  client->Send(Allocate(1, size), Allocate(2, size), FillRequest{1, 0, size, 0x01020304},
               CopyRequest{1, 0, 2, 0, size}, Read(2, 0, size));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  for (const std::string& entry : card->log) EXPECT_NE(entry, fmt::format("fill {}", size));
  ASSERT_EQ(client->Data(5).size(), size);
  EXPECT_EQ(client->Data(5).substr(size - 4), std::string("\x04\x03\x02\x01"));
}

TEST_F(SessionFlow, AReadTakesAnyByteRange) {
  Start();
  auto client = Connect();
  const std::string bytes = Pattern(2048);
  client->Send(Allocate(1, 2048), InlineWrite(1, 0, bytes), Read(1, 3, 1001));
  client->Run();
  EXPECT_EQ(client->Data(3), bytes.substr(3, 1001));
}

TEST_F(SessionFlow, AClientThatDoesNotTakeItsDataBoundsWhatIsRead) {
  behaviour.dram_bank_bytes = 16 << 20;
  options.limits.read_bytes = 1 << 20;
  Start();
  auto client = Connect();
  const uint64_t size = 8 << 20;
  client->Send(Allocate(1, size), Read(1, 0, size));
  RunAll();
  uint64_t read = core->admin().GetStatus().devices[0].stats.bytes_read;
  EXPECT_LE(read, options.limits.read_bytes);
  EXPECT_GT(read, 0u);
  for (int i = 0; i < 5; ++i) RunAll();
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.bytes_read, read)
      << "nothing more until the client takes it";
  client->Run();
  EXPECT_EQ(client->Data(2).size(), size);
  EXPECT_EQ(client->Progress(), 2u);
}

TEST_F(SessionFlow, ProgressNeverOvertakesDataThatWasNotTaken) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), Read(1, 0, 1024), Read(1, 1024, 1024));
  RunAll();
  // TestClient checks the order within and across messages of one chunk each.
  client->Take(1);
  EXPECT_EQ(client->Progress(), 3u);
}

TEST_F(SessionFlow, OutputIsAnnouncedOncePerEmptying) {
  Start();
  auto client = Connect();
  client->Send(BarrierRequest{});
  client->Send(BarrierRequest{});
  client->Send(BarrierRequest{});
  EXPECT_EQ(client->ready, 1);
  client->Take();
  client->Send(BarrierRequest{});
  EXPECT_EQ(client->ready, 2);
}

// ---- the end of a call

TEST_F(SessionFlow, Finish_CompletesWhatWasSent) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)), Read(1, 0, 1024));
  client->Finish();
  Status status;
  EXPECT_FALSE(client->Ended(&status));
  client->Run();
  EXPECT_EQ(client->Data(3), Pattern(1024));
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(SessionFlow, Finish_FailsCommandsWithoutTheirData) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), StreamedWrite(1, 0, 1024));
  ASSERT_TRUE(client->Supply(0, 2, 0, Pattern(512)).ok());
  client->Finish();
  client->Run();
  EXPECT_EQ(client->ErrorOf(2).code, StatusCode::kInvalidArgument);
  Status status;
  EXPECT_TRUE(client->Ended(&status));
}

TEST_F(SessionFlow, Finish_AcceptsCancelsAndNothingElse) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), StreamedWrite(1, 0, 1024));
  client->Finish();
  EXPECT_TRUE(client->Cancel({0, 2}).ok());
  EXPECT_TRUE(client->Accept({}).ok());
  BatchRequest batch;
  batch.first_value = 3;
  batch.commands.push_back(BarrierRequest{});
  EXPECT_EQ(client->Submit(std::move(batch)).code(), StatusCode::kInvalidArgument);
}

TEST_F(SessionFlow, Leave_EndsWithCancelled) {
  Start();
  auto client = Connect();
  card->hold = true;
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)), Read(1, 0, 1024));
  core->RunOnce();
  client->Leave();
  Status status;
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  card->hold = false;
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

// Who knows a hash does not thereby own the kernel.
TEST_F(SessionFlow, AKernelUploadedOnceIsFoundByItsHashByItsUserAlone) {
  Start();
  auto first = Connect(1000);
  first->Send(InlineKernel(1, "elf one"));
  first->Run();
  LoadKernelRequest by_hash;
  by_hash.handle = 9;
  by_hash.sha256 = Sha256("elf one");
  auto second = Connect(1000);
  second->Send(by_hash, OneKernelProgram(10, 9), Launch(10));
  second->Run();
  EXPECT_THAT(second->errors, IsEmpty());
  auto stranger = Connect(2000);
  stranger->Send(by_hash);
  stranger->Run();
  EXPECT_EQ(stranger->ErrorOf(1).reason, "KERNEL_NOT_CACHED");
  auto other_hash = Connect(1000);
  by_hash.sha256 = std::string("\xff", 1) + std::string(31, '\0');
  other_hash->Send(by_hash);
  other_hash->Run();
  EXPECT_EQ(other_hash->ErrorOf(1).reason, "KERNEL_NOT_CACHED");
}

}  // namespace
}  // namespace ttfd::session_flow_test
