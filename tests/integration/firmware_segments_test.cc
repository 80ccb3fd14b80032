// Data in many stretches: RELAY_PAGED_PACKED from DRAM, and the ring buffer that is read once and relayed
// often.
#include <numeric>

#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_segments_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kSource = 0x400000;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Stretches : public FirmwareVariantTest {
 protected:
  // A header that writes `bytes` bytes to the first worker.
  EntryBuilder& Header(EntryBuilder& entry, uint64_t bytes) {
    return entry.Noflush(WriteLinearCommand(Xy(bench_->WorkerTile(0)), kTarget, bytes));
  }
  void ExpectWritten(const std::vector<std::byte>& data) {
    ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, data.size()), data);
    EXPECT_EQ(PrefetchStatus().state, abi::kHartReady);
    EXPECT_EQ(DispatchStatus().state, abi::kHartReady);
  }
  uint32_t half() const { return bench_->block().scratch_bytes / 2; }
};

TEST_P(Stretches, PackedStretchesFollowOneAnother) {
  for (const uint32_t shift : {6u, 7u, 10u, 12u}) {
    for (const uint32_t count : {1u, 2u, abi::kMaxPagedPacked}) {
      std::vector<abi::RelayPagedPackedTarget> targets;
      std::vector<std::byte> data;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t length = std::min(64 * (1 + i % 40), half());
        const auto piece = Pattern(length, i + shift);
        const uint32_t base = kSource + i * 0x10000;
        bench_->SetDramPages(base, 1u << shift, i, piece);
        targets.push_back({static_cast<uint16_t>(i), static_cast<uint16_t>(shift), base, length});
        data.insert(data.end(), piece.begin(), piece.end());
      }
      EntryBuilder entry;
      Header(entry, data.size()).RelayPagedPacked(targets);
      ASSERT_OK(bench_->SendAndRun(entry));
      ExpectWritten(data);
    }
  }
}

TEST_P(Stretches, PackedStretchesOfAnyMultipleOfSixteenAndALastOfAnyLength) {
  std::vector<abi::RelayPagedPackedTarget> targets;
  std::vector<std::byte> data;
  const uint32_t lengths[] = {16, 48, 64, 112, 128, 80, 64, 64, 16, 13};
  for (uint32_t i = 0; i < std::size(lengths); ++i) {
    const auto piece = Pattern(lengths[i], i);
    bench_->SetDramPages(kSource + i * 0x1000, 64, 3, piece);
    targets.push_back({3, 6, kSource + i * 0x1000, lengths[i]});
    data.insert(data.end(), piece.begin(), piece.end());
  }
  EntryBuilder entry;
  Header(entry, data.size()).RelayPagedPacked(targets);
  ASSERT_OK(bench_->SendAndRun(entry));
  ExpectWritten(data);
}

TEST_P(Stretches, AStretchMayFillAHalfOfScratch) {
  const auto data = Pattern(half(), 3);
  bench_->SetDramPages(kSource, 1024, 5, data);
  const abi::RelayPagedPackedTarget targets[] = {{5, 10, kSource, half()}};
  EntryBuilder entry;
  Header(entry, data.size()).RelayPagedPacked(targets);
  ASSERT_OK(bench_->SendAndRun(entry));
  ExpectWritten(data);
}

TEST_P(Stretches, TheRingbufferIsRelayedFromAsOftenAsWanted) {
  const uint32_t length = bench_->block().ringbuffer_bytes;
  const auto data = Pattern(length, 4);
  bench_->SetDramPages(kSource, 128, 7, data);
  ASSERT_OK(bench_->Send(EntryBuilder().PagedToRingbuffer(true, 7, 7, kSource, length, length)));
  for (uint32_t start = 0; start < 96; start += 16) {
    const uint32_t tail = 5 + start;
    const abi::RelayRingbufferTarget targets[] = {{start, 64}, {0, 16}, {length - 112, tail}};
    std::vector<std::byte> expected(data.begin() + start, data.begin() + start + 64);
    expected.insert(expected.end(), data.begin(), data.begin() + 16);
    expected.insert(expected.end(), data.end() - 112, data.end() - 112 + tail);
    EntryBuilder entry;
    Header(entry, expected.size()).RelayRingbuffer(targets);
    ASSERT_OK(bench_->SendAndRun(entry));
    ExpectWritten(expected);
  }
}

TEST_P(Stretches, FillsOfTheRingbufferMoveTheWritePointerAndSetTheOffset) {
  const auto first = Pattern(128, 5), second = Pattern(64, 6), third = Pattern(192, 7);
  bench_->SetDramPages(kSource, 64, 0, first);
  bench_->SetDramPages(kSource + 0x1000, 64, 1, second);
  bench_->SetDramPages(kSource + 0x2000, 64, 2, third);
  const auto relay = [&](uint32_t start, uint32_t bytes) {
    const abi::RelayRingbufferTarget targets[] = {{start, bytes}};
    EntryBuilder entry;
    Header(entry, bytes).RelayRingbuffer(targets);
    return bench_->SendAndRun(entry);
  };
  // 128 bytes with 64 left free behind them, then 64.
  ASSERT_OK(bench_->Send(EntryBuilder()
                             .PagedToRingbuffer(true, 6, 0, kSource, 128, 192)
                             .PagedToRingbuffer(false, 6, 1, kSource + 0x1000, 64, 64)));
  ASSERT_OK(relay(0, 64));  // counts from where the last fill began
  ExpectWritten(second);
  ASSERT_OK(bench_->Send(EntryBuilder().SetRingbufferOffset(0, false)));
  ASSERT_OK(relay(0, 128));
  ExpectWritten(first);
  ASSERT_OK(relay(192, 64));
  ExpectWritten(second);
  // The write pointer was left alone: the next fill goes to 256. Then it is set back to 64.
  ASSERT_OK(
      bench_->Send(EntryBuilder().PagedToRingbuffer(false, 6, 2, kSource + 0x2000, 192, 192)));
  ASSERT_OK(relay(0, 192));
  ExpectWritten(third);
  ASSERT_OK(bench_->Send(EntryBuilder().SetRingbufferOffset(64, true).PagedToRingbuffer(
      false, 6, 1, kSource + 0x1000, 64, 64)));
  ASSERT_OK(bench_->Send(EntryBuilder().SetRingbufferOffset(0, false)));
  ASSERT_OK(relay(64, 64));
  ExpectWritten(second);
}

TEST_P(Stretches, ManyStretchesOfTheRingbuffer) {
  const auto data = Pattern(448, 8);
  bench_->SetDramPages(kSource, 64, 0, data);
  std::vector<abi::RelayRingbufferTarget> targets;
  std::vector<std::byte> expected;
  for (uint32_t i = 0; i < abi::kMaxRelayRingbuffer; ++i) {
    const uint32_t start = 16 * (i % 20);
    targets.push_back({start, 112});
    expected.insert(expected.end(), data.begin() + start, data.begin() + start + 112);
  }
  EntryBuilder entry;
  entry.PagedToRingbuffer(true, 6, 0, kSource, 448, 448);
  Header(entry, expected.size()).RelayRingbuffer(targets);
  ASSERT_OK(bench_->SendAndRun(entry));
  ExpectWritten(expected);
}

TTFD_INSTANTIATE_VARIANTS(Stretches);

}  // namespace
}  // namespace ttfd::testing::firmware_segments_test
