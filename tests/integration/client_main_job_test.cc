// The main job through libttfd and the real daemon: write, launch, read, by several clients at once.
#include <thread>

#include "tests/support/client_fixture.h"
#include "tests/support/test_device_text.h"

namespace ttfd::client::client_main_job_test {
namespace {

using ttfd::testing::Pattern;

class ClientMainJob : public ttfd::testing::ClientFixture {};

TEST_F(ClientMainJob, TheDeviceIsDescribed) {
  const DeviceInfo& device = session_->device();
  EXPECT_EQ(device.board, "p150");
  EXPECT_EQ(device.backend, TestSimulator().empty()              ? Backend::kEmbedded
                            : TestSimulator().starts_with(kCard) ? Backend::kKmd
                                                                 : Backend::kTtsim);
  EXPECT_EQ(device.workers(), 130u);
  EXPECT_EQ(device.dram_banks, 8u);
  EXPECT_GT(device.dram_bank_bytes, uint64_t{1} << 30);
  EXPECT_GT(device.l1_bytes, 256u << 10);
  EXPECT_GT(device.transfer_alignment, 0u);
  EXPECT_GT(device.clock_hz, 0u);
  EXPECT_EQ(session_->limits().message_bytes, 4u << 20);
}

TEST_F(ClientMainJob, BytesComeBackFromEveryKindOfBuffer) {
  for (const size_t size :
       {size_t{16}, size_t{2048}, size_t{65536}, size_t{65552}, size_t{5} << 20}) {
    Result<Buffer> buffer = session_->AllocateDram(size);
    ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
    const std::vector<std::byte> bytes = Pattern(size);
    const Status written = session_->queue().Write(*buffer, 0, bytes);
    ASSERT_TRUE(written.ok()) << written.ToString();
    std::vector<std::byte> back(size);
    ASSERT_TRUE(session_->queue().Read(*buffer, 0, back).ok());
    EXPECT_EQ(back, bytes) << size;
  }
  Result<Buffer> l1 = session_->AllocateL1(130 * 1024);
  Result<Buffer> bank = session_->AllocateDram(1 << 20, {.page_bytes = 4096, .bank = 3});
  ASSERT_TRUE(l1.ok()) << l1.status().ToString();
  ASSERT_TRUE(bank.ok()) << bank.status().ToString();
  for (const Buffer* buffer : {&*l1, &*bank}) {
    const std::vector<std::byte> bytes = Pattern(buffer->size_bytes());
    ASSERT_TRUE(session_->queue().Write(*buffer, 0, bytes).ok());
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(session_->queue().Read(*buffer, 0, back).ok());
    EXPECT_EQ(back, bytes);
  }
}

TEST_F(ClientMainJob, EveryLayoutHoldsBytesInPagesOfAnySize) {
  Queue queue = session_->queue();
  const std::vector<CoreRange> cores = {{0, 0, 2, 1}, {5, 5, 5, 5}};
  for (const uint32_t page : {16u, 48u, 100u, 2048u, 4112u, 300'000u}) {
    const uint64_t size = page > 100'000 ? 2 * page + 1000 : 60 * page + page / 2;
    std::vector<Result<Buffer>> buffers;
    buffers.push_back(session_->AllocateDram(size, {.page_bytes = page}));
    buffers.push_back(session_->AllocateDram(size, {.page_bytes = page, .bank = 3}));
    buffers.push_back(session_->AllocateL1(size, {.page_bytes = page}));
    buffers.push_back(session_->AllocateL1(size, {.page_bytes = page, .cores = cores}));
    if (page < 100'000) {
      buffers.push_back(session_->AllocateSharded(  // height
          size, {.page_bytes = page,
                 .cores = cores,
                 .row_pages = 3,
                 .shard_rows = 3,
                 .shard_row_pages = 3}));
      buffers.push_back(session_->AllocateSharded(  // width
          size, {.page_bytes = page,
                 .cores = cores,
                 .row_pages = 7,
                 .shard_rows = 9,
                 .shard_row_pages = 1}));
      buffers.push_back(session_->AllocateSharded(  // block; the last column is narrower
          size, {.page_bytes = page,
                 .cores = cores,
                 .row_pages = 5,
                 .shard_rows = 7,
                 .shard_row_pages = 2}));
    }
    const std::vector<std::byte> bytes = Pattern(size);
    const Buffer* from = nullptr;
    for (const Result<Buffer>& buffer : buffers) {
      ASSERT_TRUE(buffer.ok()) << page << buffer.status().ToString();
      // The first is written, every other one copied from the one before, on the card.
      const Status filled =
          from == nullptr ? queue.Write(*buffer, 0, bytes) : queue.Copy(*from, 0, *buffer, 0, size);
      ASSERT_TRUE(filled.ok()) << page << filled.ToString();
      from = &*buffer;
      std::vector<std::byte> back(size - 7);
      const Status read = queue.Read(*buffer, 5, back);
      ASSERT_TRUE(read.ok()) << page << read.ToString();
      ASSERT_TRUE(std::equal(back.begin(), back.end(), bytes.begin() + 5)) << page;
    }
  }
}

TEST_F(ClientMainJob, AnyByteRangeCanBeRead) {
  Result<Buffer> buffer = session_->AllocateDram(100'000 / 16 * 16);
  const std::vector<std::byte> bytes = Pattern(buffer->size_bytes());
  ASSERT_TRUE(session_->queue().Write(*buffer, 0, bytes).ok());
  for (const auto& [offset, size] : {std::pair<size_t, size_t>{0, 1}, {2047, 2}, {13, 50'001}}) {
    std::vector<std::byte> back(size);
    ASSERT_TRUE(session_->queue().Read(*buffer, offset, back).ok());
    EXPECT_TRUE(
        std::equal(back.begin(), back.end(), bytes.begin() + static_cast<ptrdiff_t>(offset)))
        << offset;
  }
}

TEST_F(ClientMainJob, NewBuffersAreZeroAlsoWhenMemoryIsUsedAgain) {
  constexpr size_t kBytes = 1 << 20;
  const std::vector<std::byte> zeros(kBytes);
  for (int round = 0; round < 2; ++round) {
    Result<Buffer> buffer = session_->AllocateDram(kBytes);
    ASSERT_TRUE(buffer.ok());
    std::vector<std::byte> back(kBytes, std::byte{1});
    ASSERT_TRUE(session_->queue().Read(*buffer, 0, back).ok());
    EXPECT_EQ(back, zeros) << round;
    ASSERT_TRUE(session_->queue().Write(*buffer, 0, Pattern(kBytes)).ok());
  }
}

TEST_F(ClientMainJob, FillAndCopyMoveWords) {
  Result<Buffer> from = session_->AllocateDram(8192);
  Result<Buffer> to = session_->AllocateDram(8192);
  Queue queue = session_->queue();
  ASSERT_TRUE(queue.Fill(*from, 64, 4096, 0x01020304).ok());
  const Status copied = queue.Copy(*from, 0, *to, 1024, 4096);
  ASSERT_TRUE(copied.ok()) << copied.ToString();
  std::vector<uint32_t> words(2048);
  ASSERT_TRUE(queue.Read(*to, 0, std::as_writable_bytes(std::span(words))).ok());
  EXPECT_EQ(words[(1024 + 60) / 4], 0u);
  EXPECT_EQ(words[(1024 + 64) / 4], 0x01020304u);
  EXPECT_EQ(words[(1024 + 4092) / 4], 0x01020304u);
  EXPECT_EQ(words[(1024 + 4096) / 4], 0u);
}

TEST_F(ClientMainJob, AKernelComputesOnEveryTile) {
  const Status status = AddVectors(session_.get(), 300, session_->device().workers(), 1);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << daemon_.Log();
}

// The kernel finds the pages where the daemon put them: round the workers' L1, and round the DRAM banks.
TEST_F(ClientMainJob, AKernelReadsAndWritesBuffersInL1) {
  constexpr uint32_t kPageBytes = 1024;
  const uint32_t tiles = session_->device().workers();
  const uint32_t pages = 2 * tiles + 17;
  const size_t bytes = size_t{pages} * kPageBytes;
  Result<Buffer> moved =
      session_->AllocateL1(kPageBytes * 5);  // so that the next does not lie first
  Result<Buffer> l1 = session_->AllocateL1(bytes, {.page_bytes = kPageBytes});
  Result<Buffer> other_l1 = session_->AllocateL1(bytes, {.page_bytes = kPageBytes});
  Result<Buffer> dram = session_->AllocateDram(bytes, {.page_bytes = kPageBytes});
  for (const auto* buffer : {&moved, &l1, &other_l1, &dram}) {
    ASSERT_TRUE(buffer->ok()) << buffer->status().ToString();
  }
  const Program program = MakeProgram(session_.get(), "copy_pages",
                                      FirstCores(session_->device().grid_x, tiles), 1, kPageBytes);
  std::vector<uint32_t> shares;
  for (uint32_t tile = 0, first = 0; tile < tiles; ++tile) {
    const uint32_t count = pages / tiles + (tile < pages % tiles ? 1 : 0);
    shares.insert(shares.end(), {first, count});
    first += count;
  }
  const auto copy = [&](const Buffer& from, const Buffer& to, uint32_t which_in_dram) {
    LaunchRequest launch(program);
    launch.Common(0, {0, 0, kPageBytes, which_in_dram}).PerCore(0, 2, shares);
    launch.Address(0, 0, from).Address(0, 1, to);
    return session_->queue().EnqueueLaunch(launch).status();
  };
  const std::vector<std::byte> data = Pattern(bytes, 7);
  ASSERT_TRUE(session_->queue().Write(*l1, 0, data).ok());
  ASSERT_TRUE(copy(*l1, *other_l1, 0).ok());
  ASSERT_TRUE(copy(*other_l1, *dram, 2).ok());
  std::vector<std::byte> back(bytes);
  const Status read = session_->queue().Read(*dram, 0, back);
  ASSERT_TRUE(read.ok()) << read.ToString() << "\n" << daemon_.Log();
  EXPECT_EQ(back, data);
  ASSERT_TRUE(session_->queue().Fill(*l1, 0, bytes, 0).ok());
  ASSERT_TRUE(copy(*dram, *l1, 1).ok());
  std::fill(back.begin(), back.end(), std::byte{0});
  ASSERT_TRUE(session_->queue().Read(*l1, 0, back).ok());
  EXPECT_EQ(back, data);
}

TEST_F(ClientMainJob, LaunchesPipelineAndEndInOrder) {
  const Program program = MakeProgram(session_.get(), "empty", {CoreRange{0, 0, 3, 3}});
  const LaunchRequest launch(program);
  Queue queue = session_->queue();
  uint64_t reported = 0;
  bool ordered = true;
  session_->OnProgress([&](Position position) {
    ordered = ordered && position.value > reported;
    reported = position.value;
  });
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(queue.EnqueueLaunch(launch).ok());
  }
  const Status finished = queue.Finish();
  EXPECT_TRUE(finished.ok()) << finished.ToString();
  EXPECT_EQ(queue.completed(), 2000u);
  EXPECT_EQ(reported, 2000u);
  EXPECT_TRUE(ordered);
}

TEST_F(ClientMainJob, ManyMoreBarriersThanCreditPassThrough) {
  Queue queue = session_->queue();
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(queue.EnqueueBarrier().ok());
  }
  EXPECT_TRUE(queue.Finish().ok());
}

TEST_F(ClientMainJob, QueuesWaitForOneAnother) {
  Result<Queue> other = session_->OpenQueue({.kind = QueueKind::kTransfer});
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  Result<Buffer> buffer = session_->AllocateDram(1 << 20);
  const std::vector<std::byte> bytes = Pattern(1 << 20);
  Result<Position> written = session_->queue().EnqueueWrite(*buffer, 0, bytes);
  ASSERT_TRUE(written.ok());
  ASSERT_TRUE(other->After(std::span(&*written, 1)).ok());
  std::vector<std::byte> back(bytes.size());
  const Status read = other->Read(*buffer, 0, back);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(back, bytes);
}

TEST_F(ClientMainJob, WhatHasNotStartedCanBeCancelledAndHasAStartDeadline) {
  const DeviceInfo& device = session_->device();
  const Program program =
      MakeProgram(session_.get(), "empty", {CoreRange{0, 0, device.grid_x - 1, device.grid_y - 1}});
  Queue busy = session_->queue();
  // The launch waits until the other session gives its worker back.
  ConnectOptions holding = {.address = daemon_.address()};
  holding.lease = LeaseOptions{.workers = {CoreRange{0, 0, 0, 0}}};
  Result<Session> holder = Session::Connect(holding);
  ASSERT_TRUE(holder.ok()) << holder.status().ToString();
  const Result<Position> last = busy.EnqueueLaunch(LaunchRequest(program));
  ASSERT_TRUE(last.ok());
  Result<Queue> waits = session_->OpenQueue({});
  Result<Queue> hurries = session_->OpenQueue({});
  ASSERT_TRUE(waits.ok() && hurries.ok());
  ASSERT_TRUE(waits->After(std::span(&*last, 1)).ok());
  const Result<Position> cancelled = waits->EnqueueBarrier();
  ASSERT_TRUE(hurries->After(std::span(&*last, 1)).ok());
  ASSERT_TRUE(hurries->StartWithin(std::chrono::milliseconds(1)).ok());
  const Result<Position> late = hurries->EnqueueBarrier();
  ASSERT_TRUE(waits->Cancel(cancelled->value).ok());
  const Status gone = waits->Wait(*cancelled);
  EXPECT_EQ(gone.code(), Code::kCancelled) << gone.ToString();
  const Status missed = hurries->Wait(*late);
  EXPECT_EQ(missed.code(), Code::kDeadlineExceeded) << missed.ToString();
  EXPECT_EQ(missed.reason(), "DEADLINE");
  EXPECT_EQ(busy.completed(), 0u);
  EXPECT_TRUE(holder->Close().ok());
  const Status finished = busy.Finish();
  EXPECT_TRUE(finished.ok()) << finished.ToString();
}

TEST_F(ClientMainJob, SeveralClientsAtOnceEachGetTheirOwnResults) {
  std::vector<Session> sessions;
  std::vector<Status> statuses(3);
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(Connect("client " + std::to_string(i)));
  }
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i) {
    threads.emplace_back([&sessions, &statuses, i] {
      for (uint32_t round = 0; round < 3 && statuses[i].ok(); ++round) {
        statuses[i] = AddVectors(&sessions[i], 50 + 7 * i, 20 + i, 100 * i + round);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Status& status : statuses) {
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

}  // namespace
}  // namespace ttfd::client::client_main_job_test
