// Device memory: zero when handed out, given back when nobody can reach it any more, never leaked.
#include <gmock/gmock.h>

#include "tests/support/core_fixture.h"

namespace ttfd {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

class SessionMemory : public CoreTest {};

TEST_F(SessionMemory, FreshMemoryOfAModelIsNotZeroedAgain) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096), Read(1, 0, 4096));
  client->Run();
  EXPECT_THAT(client->Data(2), Each('\0'));
  EXPECT_THAT(card->log, Not(Contains("fill 4096")));
}

TEST_F(SessionMemory, MemoryOfACardWithoutThatPromiseIsZeroed) {
  behaviour.memory_is_zero_after_power_on = false;
  Start();
  card->Poke({MemoryKind::kDram, -1, 0, 1024, 4096}, 0, Pattern(4096));
  auto client = Connect();
  client->Send(Allocate(1, 4096), Read(1, 0, 4096));
  client->Run();
  EXPECT_THAT(client->Data(2), Each('\0'));
}

TEST_F(SessionMemory, MemoryOfAnotherIsZeroToTheEndOfItsLastPages) {
  Start();
  auto first = Connect();
  first->Send(Allocate(1, 8192), InlineWrite(1, 0, Pattern(8192)));
  first->Run();
  first.reset();
  RunAll();
  auto second = Connect();
  second->Send(Allocate(1, 5000), Read(1, 0, 5000));
  second->Run();
  EXPECT_THAT(second->Data(2), Each('\0'));
  // Two pages of 1 KiB in each of four banks.
  EXPECT_EQ(card->Peek({MemoryKind::kDram, -1, 0, 1024, 8192}, 0, 8192), std::string(8192, '\0'));
}

TEST_F(SessionMemory, AFreedHandleIsUnusableAtOnce) {
  Start();
  auto client = Connect();
  card->hold = true;
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)), Free({1}), Read(1, 0, 16));
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(4).reason, "UNKNOWN_HANDLE");
}

TEST_F(SessionMemory, AFreedHandlesNumberMayBeTakenAtOnce) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), Free({1}), InlineKernel(1), OneKernelProgram(2, 1), Launch(2));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
}

TEST_F(SessionMemory, MemoryReturnsWhenCommandsSentBeforeOnAnyQueueHaveEnded) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), OpenQueueRequest{1, 0, 0, {}}, InlineKernel(2),
               OneKernelProgram(3, 2));
  client->Run();
  const uint64_t used = Memory("dram").used_bytes;
  EXPECT_GT(used, 0u);
  card->hold = true;
  // A launch that may have learnt the address by other means: it names no buffer.
  client->SendOn(1, {}, Launch(3));
  client->Send(Free({1}));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Take();
  EXPECT_EQ(client->Progress(), 5u) << "the Free has ended";
  EXPECT_EQ(Memory("dram").used_bytes, used) << "its memory has not come back";
  card->hold = false;
  client->Run();
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

TEST_F(SessionMemory, AnAllocationMayUseWhatTheCommandBeforeItFrees) {
  Start();
  auto client = Connect();
  const uint64_t all = uint64_t{behaviour.dram_banks} * behaviour.dram_bank_bytes;
  client->Send(Allocate(1, all), InlineWrite(1, 0, Pattern(1024)));
  client->Run();
  card->hold = true;
  client->Send(Read(1, 0, 1024), Free({1}), Allocate(2, all), Read(2, 0, 1024));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Data(3), Pattern(1024));
  EXPECT_THAT(client->Data(6), Each('\0'));
}

TEST_F(SessionMemory, AnAllocationThatStillDoesNotFitIsRefused) {
  Start();
  auto client = Connect();
  const uint64_t all = uint64_t{behaviour.dram_banks} * behaviour.dram_bank_bytes;
  client->Send(Allocate(1, all / 2), Allocate(2, all / 2), Free({1}), Allocate(3, all));
  client->Run();
  EXPECT_EQ(client->ErrorOf(4).limit, "device_dram_bytes");
}

TEST_F(SessionMemory, TheLimitOfASessionCountsWhatItHolds) {
  options.limits.dram_bytes = 8192;
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 8192), Free({1}), Allocate(2, 8192), Allocate(3, 1024));
  client->Run();
  EXPECT_EQ(client->ErrorOf(3).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(4).limit, "dram_bytes");
  EXPECT_EQ(client->ErrorOf(4).limit_used, 8192u);
}

TEST_F(SessionMemory, WhatAFreeStillHoldsCountsAgainstTheLimit) {
  options.limits.dram_bytes = 8192;
  Start();
  auto client = Connect();
  client->Send(OpenQueueRequest{1, 0, 0, {}}, InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  client->SendOn(1, {}, Launch(3));
  // Each Free waits for the launch, so only the first buffer can have its memory before that.
  for (int i = 0; i < 20; ++i) client->Send(Allocate(10, 8192), Free({10}));
  for (int i = 0; i < 50; ++i) core->RunOnce();
  EXPECT_LE(Memory("dram").used_bytes, 8192u);
  EXPECT_EQ(core->ListSessions()[0].dram_bytes, 8192u);
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), 43u);
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

TEST_F(SessionMemory, AHandleCountsUntilItsObjectIsGone) {
  options.limits.handles = 4;
  Start();
  auto client = Connect();
  client->Send(OpenQueueRequest{1, 0, 0, {}}, InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  client->SendOn(1, {}, Launch(3));
  client->Send(Allocate(10, 1024), Free({10}), Allocate(11, 1024), Free({11}));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Send(Allocate(12, 1024));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  card->hold = false;
  client->Run();
  EXPECT_EQ(client->ErrorOf(8).limit, "handles");
}

TEST_F(SessionMemory, L1CountsInEachWorker) {
  Start();
  auto client = Connect();
  AllocateRequest l1 = Allocate(1, 12 * 1024, 1024);  // 12 workers
  l1.place = BufferPlace::kL1Interleaved;
  client->Send(l1, InlineWrite(1, 0, Pattern(12 * 1024)), Read(1, 0, 12 * 1024));
  client->Run();
  EXPECT_EQ(client->Data(3), Pattern(12 * 1024));
  EXPECT_EQ(Memory("l1").used_bytes, 1024u);
  EXPECT_EQ(core->ListSessions()[0].l1_bytes, 1024u);
}

// ---- clients that vanish

TEST_F(SessionMemory, AnAbandonedSessionLeaksNothing) {
  Start();
  const uint64_t dram = Memory("dram").largest_free_bytes;
  const uint64_t l1 = Memory("l1").largest_free_bytes;
  // At every point of a scenario.
  for (int rounds = 0; rounds < 12; ++rounds) {
    for (const bool hold : {false, true}) {
      auto client = Connect();
      card->hold = hold;
      AllocateRequest buffer_in_l1 = Allocate(9, 4096);
      buffer_in_l1.place = BufferPlace::kL1Interleaved;
      client->Send(Allocate(1, 64 << 10), buffer_in_l1, InlineKernel(2), OneKernelProgram(3, 2),
                   OpenQueueRequest{1, 0, 0, {}}, StreamedWrite(1, 0, 64 << 10), Launch(3),
                   Read(1, 0, 64 << 10));
      client->SendOn(1, {{0, 7}}, Read(1, 0, 64 << 10), Free({1}), BarrierRequest{});
      for (int chunk = 0; chunk < rounds && chunk < 8; ++chunk) {
        ASSERT_TRUE(client->Supply(0, 6, static_cast<uint64_t>(chunk) * 8192, Pattern(8192)).ok());
        core->RunOnce();
      }
      for (int i = 0; i < rounds; ++i) core->RunOnce();
      client.reset();  // Abandon
      card->hold = false;
      RunAll();
      EXPECT_EQ(Memory("dram").used_bytes, 0u) << rounds << hold;
      EXPECT_EQ(Memory("l1").used_bytes, 0u) << rounds << hold;
      EXPECT_THAT(core->ListSessions(), IsEmpty());
    }
  }
  EXPECT_EQ(Memory("dram").largest_free_bytes, dram);
  EXPECT_EQ(Memory("l1").largest_free_bytes, l1);
}

TEST_F(SessionMemory, MemoryTheDeviceStillTouchesIsKeptUntilItDoesNot) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024));
  client->Run();
  card->hold = true;
  client->Send(InlineWrite(1, 0, Pattern(1024)));
  core->RunOnce();  // on the device
  client.reset();
  EXPECT_GT(Memory("dram").used_bytes, 0u);
  EXPECT_EQ(core->ListSessions()[0].state, "ending");
  card->hold = false;
  RunAll();
  EXPECT_EQ(Memory("dram").used_bytes, 0u);
}

TEST_F(SessionMemory, WhatAnAbandonedSessionHadNotStartedNeverRuns) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024), InlineWrite(1, 0, Pattern(1024)));
  client.reset();
  RunAll();
  EXPECT_THAT(card->log, IsEmpty());
}

}  // namespace
}  // namespace ttfd
