// Long random sequences of records against a plain model of memory: whatever the rings' fill when a
// command meets their end, its effect is the same.
#include <cstring>
#include <random>

#include "tests/support/firmware_test.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kDramBase = 0x10000;
constexpr uint32_t kPage = 192;
constexpr uint32_t kPages = 96;
constexpr uint32_t kL1Bytes = 16 * 1024;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Random : public FirmwareVariantTest {
 protected:
  void SetUp() override {
    FirmwareVariantTest::SetUp();
    dram_.resize(kPage * kPages);
    l1_.assign(bench_->worker_count(), std::vector<std::byte>(kL1Bytes));
  }

  uint32_t Pick(uint32_t from, uint32_t to) {
    return std::uniform_int_distribution<uint32_t>(from, to)(engine_);
  }
  std::vector<std::byte> Data(size_t size) { return Pattern(size, Pick(0, ~0u)); }
  // What an entry of the smallest command ring still carries behind its commands.
  uint32_t InlineBytes() { return Pick(1, 1800); }

  EntryBuilder WriteLinear() {
    const uint32_t worker = Pick(0, bench_->worker_count() - 1);
    const auto data = Data(InlineBytes());
    const uint32_t at = Pick(0, (kL1Bytes - 2048) / 16) * 16;
    std::memcpy(l1_[worker].data() + at, data.data(), data.size());
    return EntryBuilder().Dispatch(
        WriteLinearCommand(Xy(bench_->WorkerTile(worker)), abi::kBufferAddress + at, data.size())
            .Append(data));
  }

  EntryBuilder Multicast() {
    const auto data = Data(InlineBytes());
    const uint32_t at = Pick(0, (kL1Bytes - 2048) / 16) * 16;
    for (auto& memory : l1_) std::memcpy(memory.data() + at, data.data(), data.size());
    return EntryBuilder().Dispatch(WriteLinearCommand(bench_->worker_rectangle(),
                                                      abi::kBufferAddress + at, data.size(),
                                                      static_cast<uint8_t>(bench_->worker_count()))
                                       .Append(data));
  }

  EntryBuilder WritePaged() {
    const uint32_t pages = Pick(1, 9);
    const uint32_t start = Pick(0, kPages - pages);
    const auto data = Data(size_t{pages} * kPage);
    std::memcpy(dram_.data() + size_t{start} * kPage, data.data(), data.size());
    return EntryBuilder().Dispatch(
        WritePagedCommand(true, static_cast<uint16_t>(start), kDramBase, kPage, pages)
            .Append(data));
  }

  // From host memory through both rings, longer than the small ones.
  EntryBuilder WritePagedRelayed() {
    const uint32_t pages = Pick(1, kPages);
    const uint32_t start = Pick(0, kPages - pages);
    const auto data = Data(size_t{pages} * kPage);
    const uint64_t offset = Pick(0, 15) * 65536u + Pick(0, 3) * 16u;
    std::memcpy(bench_->host_data().data() + offset, data.data(), data.size());
    std::memcpy(dram_.data() + size_t{start} * kPage, data.data(), data.size());
    return EntryBuilder()
        .Noflush(WritePagedCommand(true, static_cast<uint16_t>(start), kDramBase, kPage, pages))
        .RelayLinear(Xy(hw::kPcieTranslated), bench_->host_data_address(offset), data.size());
  }

  void CompareMemory() {
    const uint32_t banks = bench_->banks().dram_banks;
    for (uint32_t page = 0; page < kPages; ++page) {
      const uint32_t xy = bench_->banks().dram_xy[0][page % banks];
      const auto got =
          bench_->Bytes({hw::NocX(xy), hw::NocY(xy)}, kDramBase + page / banks * kPage, kPage);
      ASSERT_EQ(std::memcmp(got.data(), dram_.data() + page * kPage, kPage), 0) << "page " << page;
    }
    for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
      ASSERT_EQ(bench_->Bytes(bench_->WorkerTile(worker), abi::kBufferAddress, kL1Bytes),
                l1_[worker]);
    }
  }

  // Reads pages back through the card and compares them.
  void ReadBack() {
    const uint32_t pages = Pick(1, kPages / 4);
    const uint32_t banks = bench_->banks().dram_banks;
    const uint32_t round = Pick(0, (kPages - pages) / banks);  // the record's start page is a byte
    const size_t size = size_t{pages} * kPage;
    EntryBuilder entry;
    entry.Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitNotifyPrefetch));
    entry.Bare(abi::PrefetchId::kStall);
    entry.Noflush(HostWriteCommand(size));
    entry.RelayPaged(true, 0, kDramBase + round * kPage, kPage, pages);
    ASSERT_OK(bench_->Send(entry));
    std::vector<std::byte> record;
    while (record.size() < size + sizeof(abi::WriteLinearHHost)) {
      ASSERT_OK(bench_->Run());
      const auto page = bench_->TakeCompletionPage();
      ASSERT_OK(page.status());
      ASSERT_FALSE(page->empty());
      record.insert(record.end(), page->begin(), page->end());
    }
    ASSERT_EQ(std::memcmp(record.data() + sizeof(abi::WriteLinearHHost),
                          dram_.data() + size_t{round} * banks * kPage, size),
              0);
  }

  std::mt19937 engine_{20260101};
  std::vector<std::byte> dram_;
  std::vector<std::vector<std::byte>> l1_;
};

TEST_P(Random, EffectsAreThoseOfAPlainMemory) {
  for (int step = 0; step < 400; ++step) {
    switch (Pick(0, 5)) {
      case 0:
        ASSERT_OK(bench_->Send(WriteLinear()));
        break;
      case 1:
        ASSERT_OK(bench_->Send(Multicast()));
        break;
      case 2:
        ASSERT_OK(bench_->Send(WritePaged()));
        break;
      case 3:
        // The model's host memory is written when the entry is sent, so the card is let finish.
        ASSERT_OK(bench_->Run());
        ASSERT_OK(bench_->SendAndRun(WritePagedRelayed()));
        break;
      case 4:
        ASSERT_NO_FATAL_FAILURE(ReadBack()) << step;
        break;
      default:
        ASSERT_OK(bench_->Run());
        if (step % 8 == 0) {
          ASSERT_NO_FATAL_FAILURE(CompareMemory()) << step;
        }
    }
  }
  ASSERT_OK(bench_->Run());
  CompareMemory();
}

TTFD_INSTANTIATE_VARIANTS(Random);

}  // namespace
}  // namespace ttfd::testing
