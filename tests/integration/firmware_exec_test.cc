// EXEC_BUF: commands from a buffer in DRAM, whatever straddles a page, a block of the command ring or its
// end.
#include <random>

#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_exec_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kTrace = 0x40000;
constexpr uint32_t kSource = 0x800000;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Exec : public FirmwareVariantTest {
 protected:
  // Writes `buffer` and its end to DRAM as a runtime would; returns the number of pages.
  uint32_t Store(EntryBuilder buffer, uint32_t page_shift, bool with_end = true) {
    if (with_end) buffer.ExecBufEnd();
    std::vector<std::byte> bytes(buffer.bytes().begin(), buffer.bytes().end());
    bytes.resize(AlignUp(bytes.size(), size_t{1} << page_shift), std::byte{0xAA});
    bench_->SetDramPages(kTrace, 1u << page_shift, 0, bytes);
    return static_cast<uint32_t>(bytes.size() >> page_shift);
  }
  Status Replay(uint32_t page_shift, uint32_t pages) {
    return bench_->Send(EntryBuilder().ExecBuf(kTrace, page_shift, pages), true);
  }
  Payload Write(uint32_t worker, uint32_t address, ByteSpan data) {
    return WriteLinearCommand(Xy(bench_->WorkerTile(worker)), address, data.size()).Append(data);
  }
  void ExpectNoFault() {
    for (const auto& status : {PrefetchStatus(), DispatchStatus(), DispatchSStatus()}) {
      EXPECT_EQ(status.state, abi::kHartReady) << status.fault_code << " " << status.fault_offset;
    }
  }
};

TEST_P(Exec, ABufferIsExecutedAndTheQueueGoesOn) {
  const uint32_t pages = Store(
      EntryBuilder().Dispatch(Write(0, kTarget, Pattern(16, 1))).Dispatch(EventCommand(5)), 10);
  ASSERT_OK(Replay(10, pages));
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(Write(0, kTarget + 16, Pattern(16, 2)))));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, 16), Pattern(16, 1));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget + 16, 16), Pattern(16, 2));
  EXPECT_FALSE(bench_->TakeCompletionPage()->empty());
  ExpectNoFault();
}

// One payload of each length up to beyond a block, at shifting places: each boundary is met everywhere.
TEST_P(Exec, PayloadsMayStraddlePagesBlocksAndTheRingsEnd) {
  for (uint32_t round = 0; round < 3; ++round) {
    EntryBuilder buffer;
    std::vector<std::byte> expected;
    uint32_t address = kTarget;
    for (uint32_t size = 4; size < 5000; size = size * 5 / 4 + 12 + round) {
      const auto data = Pattern(size, size + round);
      buffer.Dispatch(Write(1, address, data));
      expected.insert(expected.end(), data.begin(), data.end());
      expected.resize(AlignUp(expected.size(), size_t{16}));
      bench_->SetBytes(bench_->WorkerTile(1), address, std::vector<std::byte>(AlignUp(size, 16u)));
      address = kTarget + static_cast<uint32_t>(expected.size());
    }
    const uint32_t shift = 10 + round;
    ASSERT_OK(Replay(shift, Store(buffer, shift)));
    ASSERT_OK(bench_->Run());
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(1), kTarget, expected.size()), expected) << round;
  }
  ExpectNoFault();
}

TEST_P(Exec, TheSameBufferReplaysAmongOrdinaryEntries) {
  EntryBuilder with_debug;
  for (uint32_t i = 0; i < 40; ++i) {
    with_debug.Dispatch(Write(0, kTarget + 16 * i, Pattern(16, i))).Debug(Pattern(100 + 9 * i, i));
  }
  const uint32_t pages = Store(with_debug, 10);
  for (uint32_t i = 0; i < 12; ++i) {
    ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(Write(0, kTarget, Pattern(200 + 64 * i, 77)))));
    ASSERT_OK(Replay(10, pages));
    ASSERT_OK(bench_->Send(EntryBuilder().Dispatch(Write(1, kTarget + 64 * i, Pattern(60, i)))));
    ASSERT_OK(bench_->Run());
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, 16), Pattern(16, 0)) << i;
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget + 16 * 39, 16), Pattern(16, 39)) << i;
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(1), kTarget + 64 * i, 60), Pattern(60, i)) << i;
  }
  ExpectNoFault();
}

TEST_P(Exec, HeadersAndListsMayStraddle) {
  const uint32_t half = bench_->block().scratch_bytes / 2;
  EntryBuilder buffer;
  std::vector<std::vector<std::byte>> expected;
  std::vector<uint32_t> addresses;
  uint32_t address = kTarget;
  for (uint32_t i = 0; i < 30; ++i) {
    const uint32_t count = 1 + i * 7 % abi::kMaxPagedPacked;
    std::vector<abi::RelayPagedPackedTarget> targets;
    std::vector<std::byte> data;
    for (uint32_t t = 0; t < count; ++t) {
      const uint32_t length = std::min(half, 64 + 64 * ((i + t) % 5));
      const auto piece = Pattern(length, i * 100 + t);
      const uint32_t base = kSource + 0x40000 * t + 0x1000 * i;
      bench_->SetDramPages(base, 64, t % 9, piece);
      targets.push_back({static_cast<uint16_t>(t % 9), 6, base, length});
      data.insert(data.end(), piece.begin(), piece.end());
    }
    buffer.Noflush(WriteLinearCommand(Xy(bench_->WorkerTile(2)), address, data.size()))
        .RelayPagedPacked(targets);
    addresses.push_back(address);
    address += static_cast<uint32_t>(data.size());
    expected.push_back(std::move(data));
  }
  ASSERT_OK(Replay(12, Store(buffer, 12)));
  ASSERT_OK(bench_->Run());
  ExpectNoFault();
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(2), addresses[i], expected[i].size()), expected[i])
        << i;
  }
}

// A header put there by RELAY_INLINE_NOFLUSH may be as long as a page of the dispatch ring is wide.
TEST_P(Exec, LongHeadersMayStraddle) {
  EntryBuilder buffer;
  std::vector<std::byte> expected;
  for (uint32_t i = 0; i < 8; ++i) {
    const auto first = Pattern(16 * (1 + 31 * i), i);
    const auto second = Pattern(100, 50 + i);
    bench_->SetBytes(bench_->WorkerTile(0), kTarget + 0x80000 + 256 * i, second);
    const uint64_t size = first.size() + second.size();
    buffer
        .Noflush(
            WriteLinearCommand(Xy(bench_->WorkerTile(1)), kTarget + 0x2000 * i, size).Append(first))
        .RelayLinear(Xy(bench_->WorkerTile(0)), kTarget + 0x80000 + 256 * i, second.size());
  }
  ASSERT_OK(Replay(11, Store(buffer, 11)));
  ASSERT_OK(bench_->Run());
  ExpectNoFault();
  for (uint32_t i = 0; i < 8; ++i) {
    const auto first = Pattern(16 * (1 + 31 * i), i);
    EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(1), kTarget + 0x2000 * i, first.size()), first);
    EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(1), kTarget + 0x2000 * i + first.size(), 100),
              Pattern(100, 50 + i));
  }
}

TEST_P(Exec, ATraceOfLaunchesRunsAndRunsAgain) {
  BenchLauncher launcher(*bench_);
  launcher.Load({.kernels = {{.name = "empty"}}});
  constexpr uint32_t kLaunches = 50;
  for (uint32_t replay = 0; replay < 3; ++replay) {
    EntryBuilder buffer;
    for (uint32_t i = 0; i < kLaunches; ++i) launcher.Append(buffer);
    ASSERT_OK(Replay(12, Store(buffer, 12)));
    ASSERT_OK(bench_->Run());
    ExpectNoFault();
    EXPECT_EQ(bench_->status(bench_->WorkerTile(3), hw::kBrisc).progress, kLaunches * (replay + 1));
  }
}

TEST_P(Exec, RandomBuffersWriteWhatTheySay) {
  std::minstd_rand random(7);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<std::byte> image(0x8000);
  bench_->SetBytes(bench_->WorkerTile(0), kTarget, image);
  for (uint32_t round = 0; round < 20; ++round) {
    EntryBuilder buffer;
    const uint32_t commands = 1 + below(60);
    for (uint32_t i = 0; i < commands; ++i) {
      const uint32_t size = 1 + below(below(4) == 0 ? 6000 : 300);
      const uint32_t offset = 16 * below(static_cast<uint32_t>(image.size() - size) / 16);
      const auto data = Pattern(size, round * 1000 + i);
      buffer.Dispatch(Write(0, kTarget + offset, data));
      std::copy(data.begin(), data.end(), image.begin() + offset);
      if (below(3) == 0) buffer.Dispatch(WaitCommand(abi::kWaitBarrier));
      if (below(9) == 0) {
        buffer.Dispatch(WaitCommand(abi::kWaitNotifyPrefetch)).Bare(abi::PrefetchId::kStall);
      }
    }
    const uint32_t shift = 10 + below(3);
    ASSERT_OK(Replay(shift, Store(buffer, shift) + below(3)));
    ASSERT_OK(bench_->Run());
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, image.size()), image) << round;
  }
  ExpectNoFault();
}

TTFD_INSTANTIATE_VARIANTS(Exec);

}  // namespace
}  // namespace ttfd::testing::firmware_exec_test
