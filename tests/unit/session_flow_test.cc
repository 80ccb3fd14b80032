// What a session does when all goes well: the main job, timelines, waits, data both ways, credit, the end of a call.
#include <gmock/gmock.h>

#include "daemon/session/sha256.h"
#include "tests/support/core_fixture.h"

namespace ttfd {
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
  ASSERT_EQ(welcome.devices.size(), 1u);
  EXPECT_EQ(welcome.devices[0].card.grid.x, behaviour.grid.x);
  EXPECT_EQ(welcome.limits.queues, options.limits.queues);
  EXPECT_GE(welcome.credit.commands, 1000u);
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

TEST_F(SessionFlow, ABatchWaitsForAnotherQueue) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), OpenQueueRequest{7, 0, 1, {}});
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
  client->Send(OpenQueueRequest{5, 0, 0, {}}, kernel);
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
  options.windows.read_bytes = 1 << 20;
  Start();
  auto client = Connect();
  const uint64_t size = 8 << 20;
  client->Send(Allocate(1, size), Read(1, 0, size));
  RunAll();
  uint64_t read = core->GetStatus().bytes_read;
  EXPECT_LE(read, options.windows.read_bytes);
  EXPECT_GT(read, 0u);
  for (int i = 0; i < 5; ++i) RunAll();
  EXPECT_EQ(core->GetStatus().bytes_read, read) << "nothing more until the client takes it";
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

// ---- credit

TEST_F(SessionFlow, PayloadBeyondItsWindowIsNotWantedUntilSomeIsWritten) {
  options.windows.payload_bytes = 64 << 10;
  Start();
  auto client = Connect();
  card->hold = true;
  client->Send(Allocate(1, 128 << 10), StreamedWrite(1, 0, 128 << 10));
  EXPECT_TRUE(client->session().WantsInput());
  ASSERT_TRUE(client->Supply(0, 2, 0, Pattern(64 << 10)).ok());
  for (int i = 0; i < 5; ++i) core->RunOnce();
  EXPECT_FALSE(client->session().WantsInput());
  client->Take();
  const int before = client->ready;
  card->hold = false;
  RunAll();
  EXPECT_GT(client->ready, before) << "OutputReady says that input is wanted again";
  EXPECT_TRUE(client->session().WantsInput());
  client->Take();
  EXPECT_EQ(client->credit.bytes, (64u << 10) + (64 << 10)) << "a total since the session began";
}

TEST_F(SessionFlow, CommandsBeyondTheirWindowAreNotWanted) {
  options.windows.commands = 10;
  Start();
  auto client = Connect();
  client->Send(InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  for (int i = 0; i < 10; ++i) client->Send(Launch(3));
  EXPECT_FALSE(client->session().WantsInput());
  card->hold = false;
  client->Run();
  EXPECT_TRUE(client->session().WantsInput());
  EXPECT_EQ(client->credit.commands, 12u + 10u);
}

TEST_F(SessionFlow, CreditIsToldWhileAStreamedWriteIsAllThatIsUnderWay) {
  options.windows.payload_bytes = 16 << 10;
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 64 << 10), StreamedWrite(1, 0, 64 << 10));
  client->Run();
  const int before = client->ready;
  ASSERT_TRUE(client->Supply(0, 2, 0, Pattern(16 << 10)).ok());
  RunAll();
  EXPECT_GT(client->ready, before) << "nothing has ended, but there is credit to tell";
  client->Take();
  EXPECT_EQ(client->credit.bytes, 32u << 10);
}

TEST_F(SessionFlow, RefusedPayloadCountsAsUsed) {
  options.windows.payload_bytes = 16 << 10;
  Start();
  auto client = Connect();
  for (int i = 0; i < 20; ++i) {
    BatchRequest batch;
    batch.clears_error = static_cast<uint64_t>(i);
    batch.commands.push_back(InlineWrite(99, 0, Pattern(4096)));
    client->SendBatch(batch);
    client->Take();
  }
  EXPECT_TRUE(client->session().WantsInput());
  EXPECT_GE(client->credit.bytes, 20u * 4096);
}

// ---- the end of a call

TEST_F(SessionFlow, HalfCloseFinishesWhatWasSent) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)), Read(1, 0, 1024));
  client->session().FinishInput();
  Status status;
  EXPECT_FALSE(client->session().finished(&status));
  client->Run();
  EXPECT_EQ(client->Data(3), Pattern(1024));
  ASSERT_TRUE(client->session().finished(&status));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
  EXPECT_THAT(core->ListSessions(), IsEmpty());
}

TEST_F(SessionFlow, HalfCloseWithDataMissingFailsThatCommand) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), StreamedWrite(1, 0, 1024));
  ASSERT_TRUE(client->Supply(0, 2, 0, Pattern(512)).ok());
  client->session().FinishInput();
  client->Run();
  EXPECT_EQ(client->ErrorOf(2).code, StatusCode::kInvalidArgument);
  Status status;
  EXPECT_TRUE(client->session().finished(&status));
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
}  // namespace ttfd
