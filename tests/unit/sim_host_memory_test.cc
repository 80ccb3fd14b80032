// Outbound translation: windows of the PCIe tile, iATU regions, mapped memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/sim/host_memory.h"

namespace ttfd::sim::sim_host_memory_test {
namespace {

constexpr uint64_t kWindow4 = uint64_t{4} << 58;

class HostMemoryMapTest : public testing::Test {
 protected:
  Refusal Set(uint32_t region, uint32_t reg, uint32_t value) {
    return map_.WriteTranslation(hw::kIatuOutbound + region * hw::kIatuStride + reg, value);
  }
  Refusal Enable(uint32_t region, uint64_t base, uint64_t limit, uint64_t target) {
    const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
    Set(region, hw::kIatuBaseLow, low(base));
    Set(region, hw::kIatuBaseHigh, low(base >> 32));
    Set(region, hw::kIatuLimitLow, low(limit));
    Set(region, hw::kIatuLimitHigh, low(limit >> 32));
    Set(region, hw::kIatuTargetLow, low(target));
    Set(region, hw::kIatuTargetHigh, low(target >> 32));
    return Set(region, hw::kIatuControl2, hw::kIatuControl2Enable);
  }
  // The offset into `memory_` that a NoC address reaches; -1: refused.
  int64_t Find(uint64_t address, uint32_t length = 4) {
    memory_.assign(memory_.size(), std::byte{0});
    const std::vector<std::byte> ones(length, std::byte{1});
    const Refusal refusal = map_.Write(address, ones.data(), length);
    kind_ = refusal.kind;
    std::vector<std::byte> back(length);
    EXPECT_EQ(map_.Read(address, back.data(), length).kind, kind_);
    if (refusal) return -1;
    EXPECT_EQ(back, ones);
    return std::find(memory_.begin(), memory_.end(), std::byte{1}) - memory_.begin();
  }

  HostMemoryMap map_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(8192);
  FaultKind kind_ = FaultKind::kNone;
};

TEST_F(HostMemoryMapTest, LowWindowsBypassTranslation) {
  ASSERT_TRUE(map_.Map(0x5000, memory_).ok());
  ASSERT_FALSE(Enable(0, 0x5000, 0x6FFF, 0x100000));
  for (const uint64_t window : {0, 1, 2, 3}) EXPECT_EQ(Find(window << 58 | 0x5010), 0x10);
  EXPECT_EQ(Find(kWindow4 | 0x5010), -1);
  for (const uint64_t window : {8, 62, 63}) EXPECT_EQ(Find(window << 58 | 0x5010), -1);
  EXPECT_EQ(kind_, FaultKind::kHostMemory);
}

TEST_F(HostMemoryMapTest, HighWindowsGoThroughARegionOrStayAsTheyAre) {
  ASSERT_TRUE(map_.Map(0x100000, memory_).ok());
  EXPECT_EQ(Find(kWindow4 | 0x100020), 0x20);  // no region: the address itself
  ASSERT_FALSE(Enable(15, 0x40000, 0x41FFF, 0x100000));
  for (const uint64_t window : {4, 5, 6, 7}) EXPECT_EQ(Find(window << 58 | 0x40030), 0x30);
  EXPECT_EQ(Find(kWindow4 | 0x41FFC), 0x1FFC);
  EXPECT_EQ(Find(kWindow4 | 0x41FFC, 8), -1);  // leaves the region
  EXPECT_EQ(kind_, FaultKind::kAddressTranslation);
  Set(15, hw::kIatuControl2, 0);
  EXPECT_EQ(Find(kWindow4 | 0x40030), -1);
  map_.Reset();
  EXPECT_EQ(Find(kWindow4 | 0x100020), 0x20);  // mapped memory outlives a reset
}

TEST_F(HostMemoryMapTest, APacketContinuesInTheNextRegionWhereThatBeginsAtAMultipleOf4KiB) {
  ASSERT_TRUE(map_.Map(0x100000, memory_).ok());
  ASSERT_FALSE(Enable(1, 0x40000, 0x40FFF, 0x101000));
  ASSERT_FALSE(Enable(0, 0x41000, 0x417FF, 0x100800));
  ASSERT_FALSE(Enable(2, 0x41800, 0x41FFF, 0x100000));
  EXPECT_EQ(Find(kWindow4 | 0x40FF0, 32), 0x800);
  EXPECT_EQ(memory_[0x1FF0], std::byte{1});
  EXPECT_EQ(memory_[0x1FEF], std::byte{0});
  EXPECT_EQ(memory_[0x80F], std::byte{1});
  EXPECT_EQ(memory_[0x810], std::byte{0});
  EXPECT_EQ(Find(kWindow4 | 0x417F0, 32), -1) << "not at a multiple";
  EXPECT_EQ(kind_, FaultKind::kAddressTranslation);
  EXPECT_EQ(Find(kWindow4 | 0x41FF0, 32), -1) << "there is none";
  EXPECT_EQ(Find(kWindow4 | 0x3FFF0, 32), -1) << "it does not begin in one";
  EXPECT_EQ(kind_, FaultKind::kAddressTranslation);
}

TEST_F(HostMemoryMapTest, MalformedRegionsAreRefusedAndTheOldOnesKept) {
  ASSERT_TRUE(map_.Map(0x100000, memory_).ok());
  EXPECT_EQ(Enable(1, 0x2000, 0x1000, 0).kind, FaultKind::kAddressTranslation);
  EXPECT_EQ(Enable(2, 0, uint64_t{1} << 32, 0).kind, FaultKind::kAddressTranslation);
  EXPECT_EQ(Enable(2, kWindow4 / 4 - 0x1000, kWindow4 / 4, 0).kind,
            FaultKind::kAddressTranslation);  // leaves the window
  EXPECT_FALSE(Enable(3, 0x10000, 0x11FFF, 0x100000));
  EXPECT_EQ(Enable(4, 0x11000, 0x12FFF, 0x200000).kind, FaultKind::kAddressTranslation);
  EXPECT_EQ(Find(kWindow4 | 0x11000), 0x1000);
  EXPECT_EQ(Set(0, hw::kIatuControl1, 1).kind, FaultKind::kUnsupportedValue);
  EXPECT_EQ(Set(0, hw::kIatuControl2, 1).kind, FaultKind::kUnsupportedValue);
  EXPECT_EQ(Set(0, hw::kIatuControl3, 1).kind, FaultKind::kUnsupportedValue);
  EXPECT_EQ(Set(16, hw::kIatuControl1, 0).kind, FaultKind::kUnsupportedRegister);
  EXPECT_EQ(Set(0, 0x24, 0).kind, FaultKind::kUnsupportedRegister);
  EXPECT_FALSE(Set(5, hw::kIatuControl1, hw::kIatuControl1IncreaseSize));
  EXPECT_FALSE(Enable(5, uint64_t{1} << 33, uint64_t{3} << 33, 0));  // large, as bit 13 allows
}

TEST_F(HostMemoryMapTest, MappingsNeitherOverlapNorVanishTwice) {
  ASSERT_TRUE(map_.Map(0x1000, memory_).ok());
  EXPECT_EQ(map_.Map(0x2000, memory_).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(map_.Map(uint64_t{1} << 58, memory_).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Find(0x1000 + 8192 - 2), -1);
  EXPECT_TRUE(map_.Map(0x1000, {}).ok());
  EXPECT_EQ(map_.Map(0x1000, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Find(0x1000), -1);
}

// Notes what it is asked for.
class NotedAccess final : public HostAccess {
 public:
  Refusal Read(uint64_t bus_address, MutableByteSpan to) override {
    last_ = {bus_address, to.size()};
    std::fill(to.begin(), to.end(), std::byte{0x5A});
    return {};
  }
  Refusal Write(uint64_t bus_address, ByteSpan from) override {
    last_ = {bus_address, from.size()};
    return {};
  }
  std::pair<uint64_t, size_t> last_;
};

TEST_F(HostMemoryMapTest, SomebodyElseMayServeEveryPacketAfterTranslation) {
  ASSERT_TRUE(map_.Map(0x100000, memory_).ok());
  ASSERT_FALSE(Enable(0, 0x40000, 0x41FFF, uint64_t{1} << 60));
  NotedAccess access;
  map_.SetAccess(&access);
  std::vector<std::byte> data(16);
  EXPECT_FALSE(map_.Read(kWindow4 | 0x40010, data.data(), 16));
  EXPECT_EQ(access.last_, std::pair(uint64_t{1} << 60 | 0x10, size_t{16}));
  EXPECT_EQ(data.back(), std::byte{0x5A});
  EXPECT_FALSE(map_.Write(0x100000, data.data(), 7));
  EXPECT_EQ(access.last_, std::pair(uint64_t{0x100000}, size_t{7}));
  EXPECT_EQ(memory_[0], std::byte{0});
  EXPECT_EQ(map_.Read(kWindow4 | 0x41FFC, data.data(), 8).kind, FaultKind::kAddressTranslation);
  map_.SetAccess(nullptr);
  EXPECT_FALSE(map_.Write(0x100000, data.data(), 1));
  EXPECT_EQ(memory_[0], std::byte{0x5A});
}

}  // namespace
}  // namespace ttfd::sim::sim_host_memory_test
