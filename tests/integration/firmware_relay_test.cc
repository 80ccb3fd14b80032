// Data that the prefetcher fetches itself, and reads on their way to the host.
#include <cstring>

#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_relay_test {
namespace {

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Relay : public FirmwareVariantTest {
 protected:
  hw::Coordinate Dram(uint32_t bank) const {
    const uint32_t xy = bench_->banks().dram_xy[0][bank];
    return {hw::NocX(xy), hw::NocY(xy)};
  }

  // Fills pages of an interleaved DRAM buffer behind the firmware's back.
  std::vector<std::byte> FillDram(uint32_t base, uint32_t page_bytes, uint32_t pages) {
    const auto data = Pattern(size_t{page_bytes} * pages, base + pages);
    const uint32_t banks = bench_->banks().dram_banks;
    for (uint32_t page = 0; page < pages; ++page) {
      bench_->SetBytes(Dram(page % banks), base + page / banks * page_bytes,
                       ByteSpan(data).subspan(size_t{page} * page_bytes, page_bytes));
    }
    return data;
  }

  // A data record from the completion ring, drained while the device runs.
  std::vector<std::byte> TakeData(size_t size) {
    std::vector<std::byte> record;
    const size_t total = sizeof(abi::WriteLinearHHost) + size;
    for (int idle = 0; record.size() < total && idle < 3;) {
      const Status run = bench_->Run();
      EXPECT_TRUE(run.ok()) << run.ToString();
      if (!run.ok()) return {};
      auto page = bench_->TakeCompletionPage();
      EXPECT_TRUE(page.ok());
      idle = page->empty() ? idle + 1 : 0;
      record.insert(record.end(), page->begin(), page->end());
    }
    EXPECT_GE(record.size(), total);
    if (record.size() < total) return {};
    const auto echo = LoadAt<abi::WriteLinearHHost>(record.data());
    EXPECT_EQ(echo.id, abi::DispatchId::kWriteLinearHHost);
    EXPECT_EQ(echo.length, total);
    return {record.begin() + sizeof(abi::WriteLinearHHost),
            record.begin() + static_cast<std::ptrdiff_t>(total)};
  }
};

TEST_P(Relay, LinearReadReachesTheHost) {
  const auto data = Pattern(10'000, 1);
  bench_->SetBytes(bench_->WorkerTile(0), abi::kBufferAddress, data);
  ASSERT_OK(
      bench_->Send(EntryBuilder()
                       .Noflush(HostWriteCommand(data.size()))
                       .RelayLinear(Xy(bench_->WorkerTile(0)), abi::kBufferAddress, data.size())));
  EXPECT_EQ(TakeData(data.size()), data);
}

TEST_P(Relay, LinearReadMayStartAtAnyMultipleOfSixteen) {
  const auto data = Pattern(5000, 2);
  bench_->SetBytes(Dram(1), 0x4030, data);
  ASSERT_OK(bench_->Send(EntryBuilder()
                             .Noflush(HostWriteCommand(data.size()))
                             .RelayLinear(Xy(Dram(1)), 0x4030, data.size())));
  EXPECT_EQ(TakeData(data.size()), data);
}

TEST_P(Relay, PagedReadCollectsTheBanks) {
  const auto data = FillDram(0x8000, 192, 33);
  ASSERT_OK(bench_->Send(
      EntryBuilder().Noflush(HostWriteCommand(data.size())).RelayPaged(true, 0, 0x8000, 192, 33)));
  EXPECT_EQ(TakeData(data.size()), data);
}

TEST_P(Relay, PagedReadStartsAtABankAndDropsTheTail) {
  constexpr uint32_t kPage = 256, kStart = 3, kPages = 10, kDropped = 100;
  const auto data = FillDram(0x10000, kPage, kStart + kPages);
  const size_t size = kPage * kPages - kDropped;
  ASSERT_OK(bench_->Send(EntryBuilder()
                             .Noflush(HostWriteCommand(size))
                             .RelayPaged(true, kStart, 0x10000, kPage, kPages, kDropped)));
  const std::vector<std::byte> expected(
      data.begin() + kStart * kPage,
      data.begin() + static_cast<std::ptrdiff_t>(kStart * kPage + size));
  EXPECT_EQ(TakeData(size), expected);
}

TEST_P(Relay, PagedReadOfPagesLargerThanScratchAndCompletionRing) {
  const auto data = FillDram(0x100000, 40'000 / 64 * 64, 5);
  ASSERT_OK(bench_->Send(EntryBuilder()
                             .Noflush(HostWriteCommand(data.size()))
                             .RelayPaged(true, 0, 0x100000, 40'000 / 64 * 64, 5)));
  EXPECT_EQ(TakeData(data.size()), data);
}

TEST_P(Relay, PagedReadOfWorkersL1) {
  constexpr uint32_t kPage = 128, kPages = 14;
  const uint32_t banks = bench_->banks().l1_banks;
  const auto data = Pattern(kPage * kPages, 9);
  for (uint32_t page = 0; page < kPages; ++page) {
    bench_->SetBytes(bench_->WorkerTile(page % banks), abi::kBufferAddress + page / banks * kPage,
                     ByteSpan(data).subspan(page * kPage, kPage));
  }
  ASSERT_OK(bench_->Send(EntryBuilder()
                             .Noflush(HostWriteCommand(data.size()))
                             .RelayPaged(false, 0, abi::kBufferAddress, kPage, kPages)));
  EXPECT_EQ(TakeData(data.size()), data);
}

TEST_P(Relay, ManySmallReadsShareTheCompletionRing) {
  const auto data = FillDram(0x20000, 64, 64);
  for (uint32_t i = 0; i < 40; ++i) {
    const uint32_t pages = 1 + i % 7;
    ASSERT_OK(bench_->Send(EntryBuilder()
                               .Noflush(HostWriteCommand(64 * pages))
                               .RelayPaged(true, 0, 0x20000, 64, pages)));
    const std::vector<std::byte> expected(data.begin(), data.begin() + 64 * pages);
    ASSERT_EQ(TakeData(64 * pages), expected) << i;
  }
}

TTFD_INSTANTIATE_VARIANTS(Relay);

}  // namespace
}  // namespace ttfd::testing::firmware_relay_test
