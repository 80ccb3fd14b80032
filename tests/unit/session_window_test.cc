// The window: what a client may send ahead of what the daemon has done for it, for a session and for a user's sessions
// together; what it holds, and when that is released.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "daemon/api/status_reason.h"
#include "daemon/session/receive_window.h"
#include "tests/support/core_fixture.h"
#include "tests/support/random.h"

namespace ttfd::session_window_test {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;

constexpr uint64_t kKiB = 1024;

// ---- ReceiveWindow alone.

class ReceiveWindowTest : public ::testing::Test {
 protected:
  ReceiveWindowTest() {
    limits.window_bytes = 160;
    limits.window_bytes_per_user = 400;
    limits.chunk_bytes = limits.inline_bytes = 4;
  }
  SessionLimits limits;
  std::shared_ptr<WindowPool> pool = std::make_shared<WindowPool>();
};

TEST_F(ReceiveWindowTest, Charge_RefusesMoreThanGranted) {
  ReceiveWindow window(limits, pool);
  EXPECT_TRUE(window.Charge(100).ok());
  const Status status = window.Charge(61);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  const auto limit = LimitOf(status);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->limit, "window_bytes");
  EXPECT_EQ(limit->value, 160u);
  EXPECT_EQ(limit->used, 100u);
  EXPECT_TRUE(window.Charge(60).ok());
  EXPECT_TRUE(window.Charge(0).ok()) << "what costs nothing is always accepted";
}

TEST_F(ReceiveWindowTest, Advance_GrantsWhatWasReleased) {
  ReceiveWindow window(limits, pool);
  ASSERT_TRUE(window.Charge(160).ok());
  window.Advance(0);
  EXPECT_EQ(window.granted(), 160u);
  window.Release(50);
  EXPECT_EQ(window.granted(), 160u) << "not before it advances";
  window.Advance(0);
  EXPECT_EQ(window.granted(), 210u);
  EXPECT_EQ(window.held(), 110u);
  window.Release(1000);
  EXPECT_EQ(window.held(), 0u) << "no more than was charged";
}

TEST_F(ReceiveWindowTest, Advance_CountsUnsentOutputAsHeld) {
  ReceiveWindow window(limits, pool);
  ASSERT_TRUE(window.Charge(160).ok());
  window.Release(100);
  window.Advance(70);
  EXPECT_EQ(window.granted(), 160u + 30);
  window.Advance(1000);
  EXPECT_EQ(window.granted(), 160u + 30) << "it never shrinks";
  window.Advance(0);
  EXPECT_EQ(window.granted(), 160u + 100);
}

TEST_F(ReceiveWindowTest, Pool_LeavesEachSessionItsPart) {
  ReceiveWindow first(limits, pool);
  ReceiveWindow second(limits, pool);
  ReceiveWindow third(limits, pool);
  EXPECT_EQ(third.granted(), 80u) << "what is left of 400";
  EXPECT_TRUE(third.reduced());
  ReceiveWindow fourth(limits, pool);
  EXPECT_EQ(fourth.granted(), 10u) << "a sixteenth";
  ASSERT_TRUE(fourth.Charge(10).ok());
  fourth.Release(10);
  fourth.Advance(0);
  EXPECT_EQ(fourth.granted(), 20u);
  first.Close();
  fourth.Advance(0);
  EXPECT_EQ(fourth.granted(), 10u + 160) << "the other's part is free";
  EXPECT_FALSE(fourth.reduced());
}

TEST_F(ReceiveWindowTest, LeastWindow_HoldsAChunkWithItsMessage) {
  limits.chunk_bytes = 64;
  EXPECT_EQ(LeastWindow(limits), 96u);
  limits.inline_bytes = 80;
  EXPECT_EQ(LeastWindow(limits), 120u);
  ReceiveWindow first(limits, pool);
  ReceiveWindow second(limits, pool);
  ReceiveWindow third(limits, pool);
  EXPECT_EQ(third.granted(), 120u);
}

TEST_F(ReceiveWindowTest, Pool_GetsEverythingBack) {
  {
    ReceiveWindow first(limits, pool);
    ReceiveWindow second(limits, pool);
    ASSERT_TRUE(second.Charge(100).ok());
    second.Release(30);
    EXPECT_EQ(pool->taken(), 320u - 30);
  }
  EXPECT_EQ(pool->taken(), 0u);
}

TEST_F(ReceiveWindowTest, Pool_IsNeverOverdrawnByThreads) {
  limits.window_bytes_per_user = 300;
  constexpr uint64_t kThreads = 4;
  std::atomic<uint64_t> most{0};
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      Random random(id + 1);
      for (int round = 0; round < 200; ++round) {
        ReceiveWindow window(limits, pool);
        for (int i = 0; i < 20; ++i) {
          const uint64_t left = window.size() - window.held();
          ASSERT_TRUE(window.Charge(random() % (left + 1)).ok());
          window.Release(random() % (window.held() + 1));
          window.Advance(random() % 8);
          const uint64_t taken = pool->taken();
          for (uint64_t seen = most; taken > seen && !most.compare_exchange_weak(seen, taken);) {
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 300 + kThreads * 10) << "the limit, and a part for each session";
  EXPECT_EQ(pool->taken(), 0u);
}

// ---- A session's window.

class SessionWindow : public CoreTest {
 protected:
  // Has a buffer 1 and a program 3; the next value is 4.
  std::unique_ptr<TestClient> Ready(uint32_t uid = 1000) {
    auto client = Connect(uid);
    client->Send(Allocate(1, 256 * kKiB), InlineKernel(2), OneKernelProgram(3, 2));
    client->Run();
    return client;
  }
  uint64_t Used(const std::string& limit, const TestClient* client) {
    const uint64_t session = client == nullptr ? 0 : client->id();
    for (const LimitUsageReply& usage : core->admin().GetLimits().usage) {
      if (usage.session != session) continue;
      for (const LimitUseReply& use : usage.uses) {
        if (use.name == limit) return use.used;
      }
    }
    return 0;
  }
  uint64_t Held(const TestClient& client) { return Used("window_bytes", &client); }
  static Status Write(TestClient& client, uint64_t value, uint64_t offset, uint64_t bytes,
                      uint32_t cost) {
    return client.Supply(0, value, offset, Pattern(bytes), cost);
  }
};

TEST_F(SessionWindow, MoreThanTheWindow_IsAProtocolError) {
  options.limits.window_bytes = 1000;
  Start();
  auto client = Ready();
  card->hold = true;
  client->SendOne(600, Launch(3));
  BatchRequest batch;
  batch.first_value = 5;
  batch.commands.push_back(Launch(3));
  const Status status = client->Submit(batch, 401);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitOf(status)->limit, "window_bytes");
  EXPECT_EQ(LimitOf(status)->value, 1000u);
  EXPECT_EQ(LimitOf(status)->used, 600u);
  EXPECT_EQ(client->accepted, 3u) << "nothing of it was accepted";
}

TEST_F(SessionWindow, FullWindow_AcceptsWhatCostsNothing) {
  options.limits.window_bytes = 1000;
  Start();
  auto client = Ready();
  const uint64_t write = client->SendOne(1000, StreamedWrite(1, 0, 64));
  EXPECT_FALSE(client->MaySend(1));
  client->OpenQueue(ComputeQueue(1));
  EXPECT_TRUE(client->Accept({}).ok());
  ASSERT_TRUE(client->Cancel({0, write}).ok());
  client->Finish();
  client->Run();
  Status status;
  EXPECT_TRUE(client->Ended(&status));
  EXPECT_TRUE(status.ok());
}

TEST_F(SessionWindow, EndedCommand_IsHeldUntilItsResultIsTaken) {
  Start();
  auto client = Ready();
  card->hold = true;
  client->SendOne(700, Launch(3));
  core->RunOnce();
  EXPECT_EQ(Held(*client), 700u);
  card->hold = false;
  RunAll();
  EXPECT_EQ(Held(*client), 700u) << "ended, and its client has not been sent that";
  client->Take();
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_EQ(client->window_bytes, options.limits.window_bytes + 700);
}

TEST_F(SessionWindow, UnreadErrors_HoldTheWindow) {
  options.limits.window_bytes = 64 * kKiB;
  Start();
  auto client = Ready();
  uint64_t value = 3;
  int sent = 0;
  for (; client->MaySend(400); ++sent) {
    BatchRequest batch;
    batch.clears_error = value;
    batch.commands.push_back(Read(99, 0, 16));
    value = client->SendBatch(std::move(batch), 400);
    core->RunOnce();  // nothing is taken
  }
  EXPECT_EQ(sent, 163) << "as many as fit the window, though all have ended";
  EXPECT_EQ(Held(*client), 163u * 400);
  client->Run();
  EXPECT_EQ(client->errors.size(), 163u);
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_EQ(client->window_bytes, client->sent_cost + options.limits.window_bytes);
}

TEST_F(SessionWindow, EveryCommand_ReleasesWhatItCost) {
  Start();
  auto client = Ready();
  client->OpenQueue(ComputeQueue(1));
  LoadKernelRequest streamed;
  streamed.handle = 7;
  streamed.size = 9;
  streamed.streamed = true;
  RecordTraceRequest record;
  record.handle = 8;
  record.launches = {Launch(3)};
  ReplayTraceRequest bad_replay;
  bad_replay.trace = 8;
  bad_replay.patches.emplace_back().arguments.buffers = {{0, 99, 0}};
  const uint64_t barrier = client->SendOne(300, BarrierRequest{});
  client->SendOne(300, Allocate(6, 64));
  const uint64_t load = client->SendOne(300, streamed);
  EXPECT_GT(client->SendOne(300, BarrierRequest{}), barrier) << "one that makes a op longer";
  client->SendOne(300, BarrierRequest{});
  ASSERT_TRUE(client->Supply(0, load, 0, "elf 12345", 170).ok());
  client->SendOne(900, InlineWrite(1, 0, Pattern(512)));
  client->SendOne(300, Free({6}));
  client->SendOne(400, record);
  client->SendOne(300, ReplayTraceRequest{8, {}});
  const uint64_t refused = client->SendOne(350, bad_replay);
  client->SendOne(900, InlineWrite(1, 0, Pattern(512)));
  client->SendOne(300, Read(1, 0, 16));
  ASSERT_TRUE(client->Cancel({0, refused + 1}).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(refused).reason, "UNKNOWN_HANDLE");
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_EQ(Used("window_bytes_per_user", nullptr), 0u);
  client->SendOne(300, Read(1, 0, 16));  // to a failed queue
  client->SendOne(900, InlineWrite(1, 0, Pattern(512)));
  client->Run();
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_EQ(client->window_bytes, client->sent_cost + options.limits.window_bytes);
}

TEST_F(SessionWindow, PartsOfAMessageThatNothingHolds_AreReleased) {
  Start();
  auto client = Ready();
  MessageRequest message;
  message.cost = 1000;
  BatchRequest& batch = message.batches.emplace_back();
  batch.first_value = 4;
  batch.commands.push_back(StreamedWrite(1, 0, 64));
  batch.costs = {300};
  ASSERT_TRUE(client->Accept(std::move(message)).ok());
  EXPECT_EQ(Held(*client), 300u);
  client->Take();
  EXPECT_EQ(client->window_bytes, options.limits.window_bytes + 700);
}

TEST_F(SessionWindow, Payload_IsReleasedAsItIsWritten) {
  options.limits.window_bytes = 20 * kKiB;
  Start();
  auto client = Ready();
  const uint64_t write = client->SendOne(300, StreamedWrite(1, 0, 200 * kKiB));
  client->Run();
  const uint64_t before = client->window_bytes;
  card->hold = true;
  ASSERT_TRUE(Write(*client, write, 0, 8 * kKiB, 8 * kKiB + 160).ok());
  ASSERT_TRUE(Write(*client, write, 8 * kKiB, 8 * kKiB, 8 * kKiB + 160).ok());
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Take();
  EXPECT_EQ(Held(*client), 300 + 2 * (8 * kKiB + 160));
  EXPECT_EQ(client->window_bytes, before);
  card->hold = false;
  client->Run();
  EXPECT_EQ(Held(*client), 300u) << "the command goes on";
  EXPECT_EQ(client->window_bytes, before + 2 * (8 * kKiB + 160)) << "sent without a result";
}

// The rest of what a chunk costs must not stay with its command: a window would fill with it.
TEST_F(SessionWindow, LongStreamOfSmallChunks_ReleasesAllOfTheirCost) {
  options.limits.window_bytes = 4 * kKiB;
  Start();
  card->completes_per_poll = 1;
  auto client = Ready();
  constexpr uint64_t kSize = 64 * kKiB;
  const uint64_t write = client->SendOne(300, StreamedWrite(1, 0, kSize));
  uint64_t sent = 0;
  for (int round = 0; round < 20'000 && sent < kSize; ++round) {
    while (sent < kSize && client->MaySend(16 + 150)) {
      ASSERT_TRUE(Write(*client, write, sent, 16, 16 + 150).ok());
      sent += 16;
    }
    core->RunOnce();
    client->Take();
  }
  EXPECT_EQ(sent, kSize) << "the window closed for good";
  client->Run();
  EXPECT_EQ(client->Progress(), write);
  EXPECT_EQ(Held(*client), 0u);
}

TEST_F(SessionWindow, DataOfARefusedCommand_HoldsNothing) {
  options.limits.window_bytes = 4 * kKiB;
  Start();
  auto client = Ready();
  const uint64_t write = client->SendOne(300, StreamedWrite(99, 0, 64 * kKiB));
  for (uint64_t i = 0; i < 64; ++i) {
    client->Take();
    ASSERT_TRUE(client->MaySend(1200)) << i;
    ASSERT_TRUE(Write(*client, write, i * kKiB, kKiB, 1200).ok());
  }
  client->Run();
  EXPECT_EQ(client->ErrorOf(write).reason, "UNKNOWN_HANDLE");
  EXPECT_EQ(Held(*client), 0u);
}

TEST_F(SessionWindow, KernelLargerThanTheWindow_IsReceived) {
  options.limits.window_bytes = 4 * kKiB;
  Start();
  auto client = Ready();
  LoadKernelRequest load;
  load.handle = 9;
  load.size = 64 * kKiB;
  load.streamed = true;
  const uint64_t value = client->SendOne(300, load);
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(client->MaySend(1200)) << i;
    const std::string bytes = "elf" + Pattern(kKiB - 3);
    ASSERT_TRUE(client->Supply(0, value, i * kKiB, bytes, 1200).ok());
    client->Take();
    if (i < 62) continue;
    EXPECT_TRUE(i == 63 || Used("kernel_bytes", client.get()) >= 63 * kKiB) << "charged as kernels";
  }
  client->Run();
  EXPECT_EQ(client->Progress(), value);
  EXPECT_LT(Used("kernel_bytes", client.get()), kKiB) << "the image alone";
  client->Send(Free({2, 9}));
  client->Run();
}

TEST_F(SessionWindow, KernelBytes_AreRefusedWhileTheyArrive) {
  Start();
  auto probe = Ready();
  const uint64_t one = Used("kernel_bytes", probe.get());
  probe.reset();
  core.reset();
  options.limits.kernel_bytes = one + 8 * kKiB;
  Start();
  auto client = Ready();
  LoadKernelRequest load;
  load.handle = 9;
  load.size = 64 * kKiB;
  load.streamed = true;
  const uint64_t value = client->SendOne(300, load);
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(client->Supply(0, value, i * kKiB, Pattern(kKiB), 1200).ok());
    EXPECT_LE(Used("kernel_bytes", client.get()), one + 8 * kKiB);
  }
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).limit, "kernel_bytes");
  EXPECT_EQ(Used("kernel_bytes", client.get()), one);
}

TEST_F(SessionWindow, KernelsLoadedAhead_AreChargedToKernelBytes) {
  constexpr size_t kImageBytes = 60 << 10;
  options.limits.kernel_bytes = 256 * kKiB;
  options.load_kernel = [](ByteSpan, const std::string& name) {
    auto image = std::make_shared<KernelImage>();
    image->name = name;
    image->bytes.resize(kImageBytes);
    return StatusOr<std::shared_ptr<const KernelImage>>(std::move(image));
  };
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096));
  const uint64_t write = client->Send(StreamedWrite(1, 0, 64));  // what follows waits for its data
  for (uint64_t i = 0; i < 4; ++i) client->Send(InlineKernel(10 + i));
  EXPECT_GT(Used("kernel_bytes", client.get()), 4 * kImageBytes)
      << "also where all have one image of the store";
  const uint64_t last = client->Send(InlineKernel(20));
  EXPECT_LT(Used("kernel_bytes", client.get()), 256 * kKiB);
  ASSERT_TRUE(client->Supply(0, write, 0, Pattern(64)).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(last).limit, "kernel_bytes");
  EXPECT_EQ(client->ErrorOf(last - 1).code, StatusCode::kOk);
}

// ---- When the window is sent.

TEST_F(SessionWindow, Window_IsSentAfterAQuarter) {
  options.limits.window_bytes = 16 * kKiB;
  Start();
  card->completes_per_poll = 1;
  auto client = Ready();
  const uint64_t write = client->SendOne(0, StreamedWrite(1, 0, 200 * kKiB));
  client->Run();
  const uint64_t before = client->window_bytes;
  // Each is an operation of its own: chunks below 64 KiB are joined only while they wait.
  card->hold = true;
  for (uint64_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(Write(*client, write, i * kKiB, kKiB, kKiB).ok());
    core->RunOnce();
  }
  card->hold = false;
  int released = 0;
  while (client->window_bytes == before && ++released < 20) {
    core->RunOnce();
    client->Take();
  }
  EXPECT_GE(client->window_bytes, before + 4 * kKiB);
  EXPECT_LT(client->window_bytes, before + 12 * kKiB) << "before all of it is written";
}

TEST_F(SessionWindow, Window_IsSentWhenNothingIsOnTheCard) {
  Start();
  auto client = Ready();
  const uint64_t write = client->SendOne(0, StreamedWrite(1, 0, 200 * kKiB));
  client->Run();
  const uint64_t before = client->window_bytes;
  const int ready = client->ready;
  ASSERT_TRUE(Write(*client, write, 0, 16, 200).ok());
  RunAll();
  EXPECT_EQ(client->ready, ready + 1)
      << "a client that needs all of its window would wait for ever";
  client->Take();
  EXPECT_EQ(client->window_bytes, before + 200);
}

TEST_F(SessionWindow, Window_TravelsWithResults) {
  Start();
  auto client = Ready();
  client->SendOne(300, BarrierRequest{});
  const SessionOutputBatch batch = client->session().TakeOutput(1000);
  EXPECT_EQ(batch.progress.size(), 1u);
  EXPECT_EQ(batch.window_bytes, client->sent_cost + options.limits.window_bytes);
  EXPECT_TRUE(client->session().TakeOutput(1000).empty()) << "once";
}

// ---- Sessions of a user.

TEST_F(SessionWindow, UsersSessions_ShareTheirTotal) {
  options.limits.window_bytes = 64 * kKiB;
  options.limits.window_bytes_per_user = 96 * kKiB;
  options.limits.chunk_bytes = options.limits.inline_bytes = kKiB;
  Start();
  auto first = Ready();
  auto second = Ready();
  auto third = Ready();
  auto stranger = Ready(2000);
  EXPECT_EQ(first->window_bytes, 64 * kKiB);
  EXPECT_EQ(second->window_bytes, 32 * kKiB);
  EXPECT_EQ(third->window_bytes, 4 * kKiB) << "a sixteenth of its own";
  EXPECT_EQ(stranger->window_bytes, 64 * kKiB) << "another user has its own total";
}

TEST_F(SessionWindow, ReducedWindow_GrowsWhenOthersEnd) {
  options.limits.window_bytes = 64 * kKiB;
  options.limits.window_bytes_per_user = 64 * kKiB;
  options.limits.chunk_bytes = options.limits.inline_bytes = kKiB;
  Start();
  auto first = Ready();
  auto second = Ready();
  ASSERT_EQ(second->window_bytes, 4 * kKiB);
  first.reset();
  const int ready = second->ready;
  RunAll();
  clock.Advance(milliseconds(100));
  RunAll();
  EXPECT_EQ(second->ready, ready + 1) << "without a message of its client";
  second->Take();
  EXPECT_EQ(second->window_bytes, 64 * kKiB);
}

// Each at most its part beyond the limit, and none waits for another for ever.
TEST_F(SessionWindow, UsersSessions_StayWithinTheirTotalAndFinish) {
  constexpr uint64_t kLimit = 16 * kKiB;
  constexpr uint64_t kChunk = kKiB;
  constexpr uint64_t kSize = 32 * kKiB;
  constexpr uint64_t kWrites = 10;
  options.limits.window_bytes_per_user = kLimit;
  options.limits.chunk_bytes = options.limits.inline_bytes = kKiB;
  options.limits.window_bytes = 20 * kKiB;
  Start();
  card->completes_per_poll = 1;
  struct Writer {
    std::unique_ptr<TestClient> client;
    uint64_t value = 0;
    uint64_t sent = 0;  // of the data of this value
  };
  std::vector<Writer> writers(6);
  for (Writer& writer : writers) {
    writer.client = Connect();
    writer.client->Send(Allocate(1, kSize));
    writer.client->Run();
    for (uint64_t i = 0; i < kWrites; ++i) writer.client->Send(StreamedWrite(1, 0, kSize));
    writer.value = 2;
  }
  uint64_t most = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (Writer& writer : writers) {
      if (writer.value > 1 + kWrites || !writer.client->MaySend(kChunk + 160)) continue;
      ASSERT_TRUE(Write(*writer.client, writer.value, writer.sent, kChunk, kChunk + 160).ok());
      writer.sent += kChunk;
      if (writer.sent == kSize) {
        ++writer.value;
        writer.sent = 0;
      }
    }
    most = std::max(most, Used("window_bytes_per_user", nullptr));
    core->RunOnce();
    for (Writer& writer : writers) writer.client->Take();
  }
  for (Writer& writer : writers) {
    EXPECT_THAT(writer.client->errors, IsEmpty());
    EXPECT_EQ(writer.client->Progress(), 1 + kWrites);
  }
  EXPECT_GE(most, kLimit * 3 / 4) << "the limit was not met";
  EXPECT_LE(most, kLimit + 6 * LeastWindow(options.limits));
}

// ---- Across connections.

TEST_F(SessionWindow, Resume_ContinuesTheWindow) {
  options.limits.window_bytes = 64 * kKiB;
  Start();
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.reconnect_timeout_ms = 1000;
  TestClient first(*core);
  ASSERT_TRUE(first.Open(hello).ok());
  first.SendOne(1000, Allocate(1, 64 * kKiB));
  first.Run();
  card->hold = true;
  first.SendOne(20'000, InlineWrite(1, 0, Pattern(16 * kKiB)));
  core->RunOnce();
  first.Abandon(/*lost=*/true);
  hello.attach = AttachKind::kResume;
  hello.resume = {first.id(), first.session().welcome().token};
  TestClient second(*core);
  ASSERT_TRUE(second.Open(hello).ok());
  EXPECT_EQ(second.window_bytes, 1000 + 64 * kKiB) << "what is on the card is held";
  card->hold = false;
  second.Run();
  EXPECT_EQ(second.window_bytes, 21'000 + 64 * kKiB);
}

}  // namespace
}  // namespace ttfd::session_window_test
