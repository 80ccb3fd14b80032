// What commands take of the daemon's memory besides the window: read data, refused kernels; and that a flood's memory
// is given back to the system.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <memory>
#include <string>

#include "tests/support/core_fixture.h"

namespace ttfd::session_host_memory_test {
namespace {

using std::chrono::milliseconds;

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class SessionHostMemory : public CoreTest {
 protected:
  void Begin() {
    Start();
    card->keep_log = false;
  }
  // Has a buffer 1 and a program 3.
  std::unique_ptr<TestClient> Ready(uint32_t uid = 1000) {
    auto client = Connect(uid);
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
    client->Run();
    return client;
  }
  uint64_t Used(const std::string& limit, const TestClient* client, uint32_t uid = 1000) {
    const uint64_t session = client == nullptr ? 0 : client->session_->welcome().session;
    for (const LimitUsageReply& uses : core->admin().GetLimits().usage) {
      if (uses.session != session || uses.uid != uid) continue;
      for (const LimitUseReply& use : uses.uses) {
        if (use.name == limit) return use.used;
      }
    }
    return 0;
  }
};

TEST_F(SessionHostMemory, IsGivenBackToTheSystemWhenAFloodIsOverAndNothingElseRuns) {
  int trims = 0;
  options.trim_memory = [&trims] { ++trims; };
  Begin();
  auto small = Ready();
  clock.Advance(milliseconds(2000));
  RunAll();
  EXPECT_EQ(trims, 0) << "not for a few commands";
  auto flooding = Ready();
  for (int i = 0; i < 4000; ++i) flooding->SendOne(300, Launch(3));
  flooding->Run();
  card->hold = true;
  small->SendOne(300, Launch(3));
  core->RunOnce();
  clock.Advance(milliseconds(1000));
  core->RunOnce();
  EXPECT_EQ(trims, 0) << "not while commands are on their way";
  card->hold = false;
  small->Run();
  clock.Advance(milliseconds(1000));
  RunAll();
  EXPECT_EQ(trims, 1) << "though its session goes on";
  clock.Advance(milliseconds(5000));
  RunAll();
  EXPECT_EQ(trims, 1);
  card->hold = true;
  for (int i = 0; i < 4000; ++i) flooding->SendOne(300, Launch(3));
  flooding.reset();
  card->hold = false;
  RunAll();
  clock.Advance(milliseconds(1000));
  RunAll();
  EXPECT_EQ(trims, 2) << "also of one that was abandoned";
}

TEST_F(SessionHostMemory, IsReturnedToTheSystemAfterASession) {
  int trims = 0;
  options.trim_memory = [&trims] { ++trims; };
  Begin();
  Ready().reset();
  RunAll();
  clock.Advance(milliseconds(1000));
  RunAll();
  EXPECT_EQ(trims, 1);
}

TEST_F(SessionHostMemory, OneByteReads_CountTheirChunks) {
  constexpr int kReads = 4000;
  options.limits.read_bytes = 64 << 10;
  Begin();
  auto client = Connect();
  const uint64_t write = client->Send(Allocate(1, 4096), InlineWrite(1, 0, Pattern(4096))) + 1;
  for (int i = 0; i < kReads; ++i) client->Send(Read(1, static_cast<uint64_t>(i), 1));
  RunAll();  // nothing is taken
  client->Take();
  size_t chunks = 0;
  for (uint64_t i = 1; i <= kReads; ++i) chunks += client->Data(write + i).size();
  EXPECT_GT(chunks, 400u);
  EXPECT_LT(chunks, options.limits.read_bytes / sizeof(DataChunk));
  client->Run();
  EXPECT_EQ(client->Progress(), write + kReads) << "the rest is read as the client takes it";
}

// ---- kernels

TEST_F(SessionHostMemory, RefusedKernels_AreNotLoaded) {
  int loads = 0;
  options.load_kernel = [&loads](ByteSpan elf, const std::string& name) {
    ++loads;
    return LoadFakeKernel(elf, name);
  };
  Begin();
  auto client = Connect();
  const LoadKernelRequest good = InlineKernel(2);
  LoadKernelRequest long_name = good;
  long_name.name = std::string(1 << 20, 'n');
  LoadKernelRequest wrong_size = good;
  wrong_size.size = 7;
  LoadKernelRequest wrong_hash = good;
  wrong_hash.sha256 = "short";
  for (const LoadKernelRequest& refused : {long_name, wrong_size, wrong_hash}) {
    BatchRequest batch;
    batch.clears_error = client->Progress();
    batch.commands.emplace_back(refused);
    for (int i = 0; i < 3; ++i) batch.commands.emplace_back(InlineKernel(3, "elf of another"));
    const uint64_t value = client->SendBatch(std::move(batch));
    client->Run();
    EXPECT_EQ(client->ErrorOf(value).reason, "INVALID") << client->ErrorOf(value).message;
    EXPECT_EQ(client->ErrorOf(value + 3).reason, "CAUSED_BY");
  }
  EXPECT_EQ(loads, 0) << "neither those refused nor those after them, which will not run";
  BatchRequest batch;
  batch.clears_error = client->Progress();
  batch.commands.emplace_back(good);
  client->SendBatch(std::move(batch));
  client->Run();
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(Used("kernels", client.get()), 1u);
}

TEST_F(SessionHostMemory, RefusedKernels_LeaveNothingOnTheHeap) {
  if (HeapBytes() == 0) GTEST_SKIP() << "a sanitizer's heap does not tell how much is in use";
  Begin();
  auto client = Connect();
  const uint64_t before = HeapBytes();
  for (int i = 0; i < 100; ++i) {
    BatchRequest batch;
    batch.clears_error = client->Progress();
    LoadKernelRequest load = InlineKernel(2, "elf " + std::to_string(i));
    load.name = std::string(1 << 20, 'n');
    batch.commands.emplace_back(std::move(load));
    client->SendBatch(std::move(batch));
    client->Run();
    client->errors.clear();
  }
  EXPECT_LT(HeapBytes(), before + (1 << 20)) << "100 names of 1 MiB each came and were refused";
}

}  // namespace
}  // namespace ttfd::session_host_memory_test
