// The pinned arena of host memory: which pages, where it lies for the card, what is refused, and parts of it.
#include "runtime/base/bits.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/card/firmware_card.h"
#include "runtime/device/kmd/linux_system.h"
#include "runtime/hw/pcie.h"
#include "tests/support/kmd_fixture.h"

namespace ttfd::kmd_memory_test {
namespace {

constexpr uint64_t kSpace = hw::kHostMemoryWindowBytes;
constexpr uint64_t kNocEnd = hw::kHostMemoryNocBase + kSpace;
constexpr uint64_t kPage = kmd::kPageBytes;
constexpr uint64_t kHuge = kmd::kHugePageBytes;
constexpr uint64_t kGiant = kmd::kGiantPageBytes;

class KmdMemory : public KmdTest {
 protected:
  std::unique_ptr<HostMemory> Allocate(uint64_t bytes) {
    return device().AllocateHostMemory(bytes).value();
  }
  // Another process pins as many single pages, at the lowest or highest NoC addresses.
  int PinAsAnother(uint32_t pages, uint32_t flags) {
    const int other = OpenAsAnother();
    for (uint32_t i = 0; i < pages; ++i) {
      kmd::PinPagesCall call;
      call.output_bytes = kmd::kPinPagesOutput;
      call.flags = flags;
      call.address =
          AlignUp<uint64_t>(reinterpret_cast<uint64_t>(others_.data()), kPage) + i * kPage;
      call.bytes = kPage;
      EXPECT_EQ(standin().Ioctl(other, kmd::kPinPages, &call), 0);
    }
    return other;
  }

 private:
  std::vector<std::byte> others_ = std::vector<std::byte>(17 * kPage);
};

TEST_F(KmdMemory, IsOnePinningOfPagesThatTheHostHas) {
  const struct {
    const char* what;
    StandinOptions options;
    uint64_t host_bytes;
    size_t pins;
    uint64_t arena_bytes;
  } kCases[] = {
      {"IOMMU", {.iommu = true, .giant_pages = 0}, 5 * kPage - 1, 1, 5 * kPage},
      {"IOMMU, with hugepages", {.iommu = true, .huge_pages = 64}, kHuge, 1, kHuge},
      {"1 GiB page", {.iommu = false, .giant_pages = 1, .huge_pages = 64}, kHuge, 1, kGiant},
      {"1 GiB page, all of it", {.iommu = false, .giant_pages = 1}, kGiant, 1, kGiant},
      {"2 MiB pages",
       {.iommu = false, .giant_pages = 0, .huge_pages = 3},
       2 * kHuge + 1,
       3,
       3 * kHuge},
      {"16 regions",
       {.iommu = false, .giant_pages = 0, .huge_pages = 16},
       16 * kHuge,
       16,
       16 * kHuge},
      {"2.0", {.version = {2, 0, 0}, .iommu = true}, kHuge, 1, kHuge},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.what);
    Prepare(test.options);
    {
      const std::unique_ptr<KmdDevice> device = TryOpen(test.host_bytes).value();
      EXPECT_EQ(standin().pins().count(), test.pins);
      EXPECT_EQ(standin().memory().mappings(), 1u);
      const std::unique_ptr<HostMemory> all = device->AllocateHostMemory(test.arena_bytes).value();
      EXPECT_EQ(all->bytes().size(), test.arena_bytes);
      EXPECT_EQ(all->noc_address(), kNocEnd - test.arena_bytes);
      EXPECT_EQ(standin().pins().count(), test.pins);
    }
    EXPECT_EQ(standin().pins().count(), 0u);
    EXPECT_EQ(standin().memory().mappings(), 0u);
    EXPECT_EQ(standin().memory().giant_pages(), test.options.giant_pages);
    EXPECT_EQ(standin().memory().huge_pages(), test.options.huge_pages);
  }
}

// Each of its hugepages leads to the bytes that the process has there.
TEST_F(KmdMemory, TheCardSeesItsPagesInTheProcesssOrder) {
  Prepare({.iommu = false, .giant_pages = 0, .huge_pages = 9});
  const std::unique_ptr<KmdDevice> device = TryOpen().value();
  const std::unique_ptr<HostMemory> memory = device->AllocateHostMemory(9 * kHuge).value();
  for (uint64_t page = 0; page < 9; ++page) {
    std::byte* const at = memory->bytes().data() + page * kHuge;
    for (std::byte* const word : {at, at + kHuge - 4}) {
      const uint64_t offset = static_cast<uint64_t>(word - memory->bytes().data());
      EXPECT_EQ(standin().pins().Translate(memory->noc_address() + offset), word);
    }
  }
}

TEST_F(KmdMemory, LiesNearTheCard) {
  for (const int numa_node : {-1, 0, 3}) {
    for (const bool iommu : {true, false}) {
      Open({.iommu = iommu, .numa_node = numa_node});
      EXPECT_EQ(standin().memory().last_numa_node(), numa_node);
    }
  }
}

struct Refusal {
  const char* what;
  StandinOptions options;
  std::function<void()> prepare;
  uint64_t host_bytes;
  Problem problem;
  const char* says;
};

class KmdMemoryRefusal : public KmdMemory {
 protected:
  void Check(const std::vector<Refusal>& refusals) {
    for (const Refusal& test : refusals) {
      SCOPED_TRACE(test.what);
      Prepare(test.options);
      test.prepare();
      const size_t others = standin().pins().count();
      ExpectRefusal(TryOpen(test.host_bytes).status(), test.problem, test.says);
      EXPECT_EQ(standin().pins().count(), others);
      EXPECT_EQ(standin().memory().mappings(), 0u);
      EXPECT_EQ(standin().memory().huge_pages(), test.options.huge_pages);
    }
  }
};

TEST_F(KmdMemoryRefusal, OfPagesNamesTheRemedyAndLeavesNothingBehind) {
  const auto nothing = [] {};
  Check({
      {"no bytes", {}, nothing, 0, Problem::kNone, "no bytes"},
      {"more than the host has",
       {},
       nothing,
       uint64_t{1} << 60,
       Problem::kNoHostMemory,
       "free memory or ask for less"},
      {"no hugepage",
       {.iommu = false, .giant_pages = 0, .huge_pages = 1},
       nothing,
       2 * kHuge,
       Problem::kNoHostMemory,
       "its queues need 4194304 bytes in free hugepages (of 1 GiB, or 2 of 2 MiB): turn on the "
       "IOMMU"},
      {"too many small ones",
       {.iommu = false, .giant_pages = 0, .huge_pages = 64},
       nothing,
       16 * kHuge + 1,
       Problem::kNoHostMemory,
       "(of 1 GiB): turn on the IOMMU (intel_iommu=on or amd_iommu=on, without iommu=pt), or "
       "reserve "
       "hugepages (systemctl start ttfd-hugepages)"},
      {"more than 1 GiB",
       {.iommu = false, .giant_pages = 4, .huge_pages = 4096},
       nothing,
       kGiant + 1,
       Problem::kNoHostMemory,
       "turn on the IOMMU"},
  });
}

TEST_F(KmdMemoryRefusal, OfPlacesNamesTheRemedyAndLeavesNothingBehind) {
  const StandinOptions small = {.iommu = false, .giant_pages = 0, .huge_pages = 16};
  Check({
      {"few regions", small, [&] { PinAsAnother(3, kmd::kPinForNoc); }, 14 * kHuge,
       Problem::kResourcesTaken, "all 16 outbound iATU regions"},
      {"scattered", small, [&] { standin().pins().Take(kSpace - kHuge - kPage, kSpace - kHuge); },
       2 * kHuge, Problem::kResourcesTaken, "regions of other processes lie between"},
      {"over a multiple of 4 GiB",
       {},
       [&] { standin().pins().Take((uint64_t{8} << 30) + kHuge, kSpace); },
       2 * kHuge,
       Problem::kResourcesTaken,
       "without a multiple of 4 GiB inside"},
  });
}

TEST_F(KmdMemory, BelowOthersItIsStillAdjacent) {
  for (const bool iommu : {true, false}) {
    Prepare({.iommu = iommu, .giant_pages = 0, .huge_pages = 4});
    PinAsAnother(3, kmd::kPinTopDown);
    const std::unique_ptr<KmdDevice> device = TryOpen(4 * kHuge).value();
    EXPECT_EQ(device->AllocateHostMemory(4 * kHuge).value()->noc_address(),
              kNocEnd - 3 * kPage - 4 * kHuge);
  }
}

TEST_F(KmdMemory, BusAddressesBeyond58BitsAreUnpinned) {
  for (const uint64_t address : {kSpace - kPage, kSpace, uint64_t{0xFFFF} << 48}) {
    Prepare({.version = {2, 9, 0}});
    standin().pins().StartBusAddressesAt(address);
    ExpectRefusal(TryOpen().status(), Problem::kResourcesTaken, "install tt-kmd 2.10");
    EXPECT_EQ(standin().pins().count(), 0u);
  }
}

TEST_F(KmdMemory, PartsCostNoCall) {
  Open();
  StartLog();
  const std::unique_ptr<HostMemory> first = Allocate(1);
  std::unique_ptr<HostMemory> second = Allocate(5000);
  EXPECT_EQ(first->bytes().size(), kPage);
  EXPECT_EQ(second->bytes().size(), 2 * kPage);
  EXPECT_EQ(second->noc_address() - first->noc_address(),
            static_cast<uint64_t>(second->bytes().data() - first->bytes().data()));
  second.reset();
  EXPECT_EQ(log().size(), 0u);
}

TEST_F(KmdMemory, FreedNeighboursAreOnePartAgain) {
  Open();
  std::vector<std::unique_ptr<HostMemory>> parts;
  for (uint64_t i = 0; i < kmd::kDefaultArenaBytes / kHuge; ++i) parts.push_back(Allocate(kHuge));
  parts[4].reset();
  ExpectRefusal(device().AllocateHostMemory(kHuge + 1).status(), StatusCode::kResourceExhausted,
                "of the 18874368 pinned for the card at most 2097152 contiguous ones are free");
  parts[5].reset();
  EXPECT_TRUE(device().AllocateHostMemory(2 * kHuge).ok());
}

TEST_F(KmdMemory, ItsDefaultSizeIsThatOfTheDispatchersQueues) {
  const CardOptions options;
  RingSizes rings;
  rings.issue_ring_bytes = options.issue_ring_bytes;
  rings.completion_ring_pages = options.completion_ring_pages;
  EXPECT_EQ(AlignUp(kHardwareQueues * HostQueueBytes(rings), kHuge), kmd::kDefaultArenaBytes);
}

// The system's own calls; hugepages are there or not.
TEST(KmdLinuxMemory, IsZeroedAndWritable) {
  kmd::Memory& pages = *kmd::LinuxSystem().memory;
  for (const uint64_t page_bytes : {kPage, kHuge, kGiant}) {
    for (const int numa_node : {-1, 0, 1 << 20}) {
      MutableByteSpan memory;
      const int result = pages.Map(page_bytes, page_bytes, numa_node, &memory);
      if (result < 0 && page_bytes != kPage) continue;
      ASSERT_EQ(result, 0);
      ASSERT_EQ(memory.size(), page_bytes);
      EXPECT_EQ(memory.back(), std::byte{});
      memory.back() = std::byte{1};
      EXPECT_EQ(pages.Unmap(memory), 0);
    }
  }
}

}  // namespace
}  // namespace ttfd::kmd_memory_test
