// Device memory: zero when handed out, given back when nobody can reach it any more, never leaked.
#include <gmock/gmock.h>

#include "tests/support/core_fixture.h"

namespace ttfd::session_memory_test {
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
  card->memory.Poke({MemoryKind::kDram, -1, 0, 1024, 4096}, 0, Pattern(4096));
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
  EXPECT_EQ(card->memory.Peek({MemoryKind::kDram, -1, 0, 1024, 8192}, 0, 8192),
            std::string(8192, '\0'));
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
  client->OpenQueue(ComputeQueue(1));
  client->Send(Allocate(1, 1024), InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  const uint64_t used = Memory(MemoryKind::kDram).used_bytes;
  EXPECT_GT(used, 0u);
  card->hold = true;
  // A launch that may have learnt the address by other means: it names no buffer.
  client->SendOn(1, {}, Launch(3));
  client->Send(Free({1}));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  client->Take();
  EXPECT_EQ(client->Progress(), 4u) << "the Free has ended";
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, used) << "its memory has not come back";
  card->hold = false;
  client->Run();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
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
  client->OpenQueue(ComputeQueue(1));
  client->Send(BarrierRequest{}, InlineKernel(2), OneKernelProgram(3, 2));
  client->Run();
  card->hold = true;
  client->SendOn(1, {}, Launch(3));
  // Each Free waits for the launch, so only the first buffer can have its memory before that.
  for (int i = 0; i < 20; ++i) client->Send(Allocate(10, 8192), Free({10}));
  for (int i = 0; i < 50; ++i) core->RunOnce();
  EXPECT_LE(Memory(MemoryKind::kDram).used_bytes, 8192u);
  EXPECT_EQ(core->admin().ListSessions()[0].dram_bytes, 8192u);
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), 43u);
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

TEST_F(SessionMemory, AHandleCountsUntilItsObjectIsGone) {
  options.limits.handles = 4;
  Start();
  auto client = Connect();
  client->OpenQueue(ComputeQueue(1));
  client->Send(BarrierRequest{}, InlineKernel(2), OneKernelProgram(3, 2));
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
  EXPECT_EQ(Memory(MemoryKind::kL1).used_bytes, 1024u);
  EXPECT_EQ(core->admin().ListSessions()[0].l1_bytes, 1024u);
}

// A buffer of every kind; 12 workers, 4 DRAM banks.
std::vector<AllocateRequest> EveryKind(uint64_t handle, uint64_t size, uint32_t page) {
  std::vector<AllocateRequest> kinds(6, Allocate(handle, size, page));
  kinds[1].place = BufferPlace::kDramBank;
  kinds[1].dram_bank = 2;
  kinds[2].place = BufferPlace::kL1Interleaved;
  kinds[3].place = BufferPlace::kL1Interleaved;
  kinds[3].cores = {{2, 1, 3, 2}, {0, 0, 0, 0}};
  kinds[4].place = BufferPlace::kL1Sharded;
  kinds[4].cores = {{0, 0, 2, 1}};
  kinds[4].row_pages = 6;
  kinds[4].shard_rows = static_cast<uint32_t>(size / page) / 12 + 1;
  kinds[4].shard_row_pages = 2;
  kinds[5] = kinds[4];
  kinds[5].cores = {{3, 0, 3, 1}};
  kinds[5].row_pages = kinds[5].shard_row_pages = 1;
  kinds[5].shard_rows = static_cast<uint32_t>(size / page) / 2 + 1;
  return kinds;
}

TEST_F(SessionMemory, EveryKindOfBufferHoldsBytesOfAnyPageSize) {
  Start();
  auto client = Connect();
  uint64_t value = 0;
  for (const uint32_t page : {1u, 48u, 100u, 1024u, 2500u}) {
    const uint64_t size = page == 1 ? 300 : 40 * page + page / 2;
    const std::string bytes = Pattern(size, page);
    for (AllocateRequest& request : EveryKind(1, size, page)) {
      client->Send(request, StreamedWrite(1, 0, size), Read(1, 3, size - 3), Free({1}));
      // In chunks that end anywhere.
      for (uint64_t at = 0; at < size; at += 777) {
        ASSERT_TRUE(client->Supply(0, value + 2, at, bytes.substr(at, 777)).ok());
      }
      client->Run();
      ASSERT_THAT(client->errors, IsEmpty())
          << client->ErrorOf(value + 1).message << client->ErrorOf(value + 2).message;
      EXPECT_EQ(client->Data(value + 3), bytes.substr(3)) << page;
      value += 4;
    }
  }
  EXPECT_EQ(Memory(MemoryKind::kL1).used_bytes, 0u);
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
}

TEST_F(SessionMemory, EveryKindOfBufferIsZeroToTheEndOfWhatItTakes) {
  behaviour.memory_is_zero_after_power_on = false;
  Start();
  auto client = Connect();
  uint64_t value = 0;
  for (AllocateRequest& request : EveryKind(1, 4000, 100)) {
    // What was there before: the first bytes of every bank.
    for (int bank = 0; bank < 12; ++bank) {
      if (bank < 4) card->memory.Poke({MemoryKind::kDram, bank, 0, 64, 5120}, 0, Pattern(5120));
      card->memory.Poke({MemoryKind::kL1, bank, 0xB0000, 64, 5120}, 0, Pattern(5120));
    }
    client->Send(request, Read(1, 0, 4000));
    client->Run();
    ASSERT_THAT(client->errors, IsEmpty());
    EXPECT_THAT(client->Data(value + 2), Each('\0'));
    // Between the first two pages of the bank the first page lies in.
    const bool dram =
        request.place == BufferPlace::kDramInterleaved || request.place == BufferPlace::kDramBank;
    int bank = request.place == BufferPlace::kDramBank ? 2 : 0;
    if (!request.cores.empty()) {
      bank = static_cast<int>(request.cores[0].y0 * 4 + request.cores[0].x0);
    }
    const Region first{dram ? MemoryKind::kDram : MemoryKind::kL1, bank, dram ? 0 : 0xB0000u, 64,
                       5120};
    EXPECT_EQ(card->memory.Peek(first, 0, 128), std::string(128, '\0'));
    client->Send(Free({1}));
    client->Run();
    value += 3;
  }
}

TEST_F(SessionMemory, FillsAndCopiesOfOddPagesGoOnAcrossSlices) {
  options.limits.chunk_bytes = 4096;
  Start();
  auto client = Connect();
  const uint64_t size = 400'001;  // more than a command moves
  client->Send(Allocate(1, size, 101), Allocate(2, size, 101), FillRequest{1, 0, size, 0x44332211},
               CopyRequest{1, 0, 2, 0, size}, Read(2, 0, size));
  client->Run();
  ASSERT_THAT(client->errors, IsEmpty());
  std::string expected(size, '\0');
  for (uint64_t at = 0; at < size; ++at) expected[at] = static_cast<char>(0x11 * (at % 4 + 1));
  EXPECT_EQ(client->Data(5), expected);
}

// ---- clients that vanish

TEST_F(SessionMemory, AnAbandonedSessionLeaksNothing) {
  Start();
  const uint64_t dram = Memory(MemoryKind::kDram).largest_free_bytes;
  const uint64_t l1 = Memory(MemoryKind::kL1).largest_free_bytes;
  // At every point of a scenario.
  for (int rounds = 0; rounds < 12; ++rounds) {
    for (const bool hold : {false, true}) {
      auto client = Connect();
      card->hold = hold;
      AllocateRequest buffer_in_l1 = Allocate(9, 4096);
      buffer_in_l1.place = BufferPlace::kL1Interleaved;
      client->OpenQueue(ComputeQueue(1));
      client->Send(Allocate(1, 64 << 10), buffer_in_l1, InlineKernel(2), OneKernelProgram(3, 2),
                   BarrierRequest{}, StreamedWrite(1, 0, 64 << 10), Launch(3),
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
      EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u) << rounds << hold;
      EXPECT_EQ(Memory(MemoryKind::kL1).used_bytes, 0u) << rounds << hold;
      EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
    }
  }
  EXPECT_EQ(Memory(MemoryKind::kDram).largest_free_bytes, dram);
  EXPECT_EQ(Memory(MemoryKind::kL1).largest_free_bytes, l1);
}

TEST_F(SessionMemory, MemoryTheDeviceStillTouchesIsKeptUntilItDoesNot) {
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 1024));
  client->Run();
  card->hold = true;
  client->Send(InlineWrite(1, 0, Pattern(1024)));
  core->RunOnce();  // on the device
  client->Abandon();
  EXPECT_GT(Memory(MemoryKind::kDram).used_bytes, 0u);
  EXPECT_EQ(core->admin().ListSessions()[0].state, SessionState::kEnding);
  card->hold = false;
  RunAll();
  EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
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
}  // namespace ttfd::session_memory_test
