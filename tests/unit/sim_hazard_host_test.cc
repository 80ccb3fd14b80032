// The order that accesses of the host keep: hosts that rely on more work on the plain model and fail with the hazard
// "host"; those that read back pass under every seed.
#include <array>
#include <vector>

#include "runtime/hw/pcie.h"
#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_host_test {
namespace {

constexpr hw::Coordinate kTile = {3, 5};
constexpr uint64_t kData = 0x9000;
constexpr uint64_t kFlag = 0xA000;
constexpr uint32_t kRelaxed = 0;
constexpr uint32_t kStrict = 1;
constexpr uint32_t kPosted = 2;
constexpr uint32_t kNewData = 0x600D;

// A 2 MiB window on the bottom of a tile, or on four tiles from there.
class HostWindow {
 public:
  HostWindow(SimChip& chip, uint32_t index, uint32_t ordering, hw::Coordinate tile = kTile,
             bool multicast = false)
      : chip_(chip.chip()), at_(index * hw::kTlbWindow2MBytes) {
    std::array<uint32_t, 3> words{};
    const auto put = [&words](uint64_t value, uint32_t bit) {
      for (uint32_t i = 0; i < 8; ++i) {
        if ((value >> i & 1) != 0) words[(bit + i) / 32] |= 1u << (bit + i) % 32;
      }
    };
    put(multicast ? tile.x + 1 : tile.x, hw::kTlbXEndBit);
    put(multicast ? tile.y + 1 : tile.y, hw::kTlbYEndBit);
    put(multicast ? tile.x : 0, hw::kTlbXStartBit);
    put(multicast ? tile.y : 0, hw::kTlbYStartBit);
    put(multicast ? 1 : 0, hw::kTlbMulticastBit);
    put(ordering, hw::kTlbOrderingBit);
    for (uint32_t i = 0; i < 3; ++i) {
      const uint64_t word = hw::kTlbRegisters + index * hw::kTlbRegisterStride + 4 * i;
      EXPECT_TRUE(chip_.BarWrite(0, word, BytesOf(words[i])).ok());
    }
  }
  Status Write(uint64_t address, uint32_t value) {
    return chip_.BarWrite(0, at_ + address, BytesOf(value));
  }
  uint32_t Read(uint64_t address) {
    uint32_t value = 0;
    const Status status = chip_.BarRead(0, at_ + address, MutableBytesOf(value));
    EXPECT_TRUE(status.ok()) << status.ToString();
    return value;
  }

 private:
  sim::Chip& chip_;
  const uint64_t at_;
};

// Data through one window, then a flag through another (perhaps the same); then whether the data is there when the flag
// is. A third window watches, which waits for neither.
bool DataThenFlag(SimChip& chip, HostWindow& data, HostWindow& flag) {
  HostWindow watch(chip, 9, kRelaxed);
  EXPECT_TRUE(data.Write(kData, kNewData).ok());
  EXPECT_TRUE(flag.Write(kFlag, 1).ok());
  for (int i = 0; i < 5000 && watch.Read(kFlag) == 0; ++i)
    EXPECT_TRUE(chip.device().Advance(1).ok());
  EXPECT_EQ(watch.Read(kFlag), 1u);
  return watch.Read(kData) == kNewData;
}

Experiment InOneWindow(uint32_t ordering) {
  return [ordering](SimChip& chip) {
    HostWindow window(chip, 7, ordering);
    return DataThenFlag(chip, window, window);
  };
}

TEST(HazardHost, OnlyAStrictWindowKeepsTheOrderOfItsWrites) {
  ExpectBites("host", InOneWindow(kRelaxed), InOneWindow(kStrict));
  ExpectBites("host", InOneWindow(kPosted));
}

TEST(HazardHost, TwoWindowsKeepNoOrder) {
  const auto two = [](bool multicast) {
    return [multicast](SimChip& chip) {
      HostWindow data(chip, 7, kStrict, kTile, multicast);
      HostWindow flag(chip, 8, kStrict);
      return DataThenFlag(chip, data, flag);
    };
  };
  const auto read_back = [](SimChip& chip) {
    HostWindow data(chip, 7, kStrict);
    HostWindow flag(chip, 8, kStrict);
    EXPECT_TRUE(data.Write(kData, kNewData).ok());
    EXPECT_EQ(data.Read(kData), kNewData);
    return DataThenFlag(chip, data, flag);
  };
  ExpectBites("host", two(false), read_back);
  ExpectBites("host", two(true));
}

TEST(HazardHost, OnlyAReadThroughTheSameStrictWindowWaitsForAWrite) {
  const auto sees = [](uint32_t ordering, uint32_t reader) {
    return [=](SimChip& chip) {
      HostWindow window(chip, 7, ordering);
      HostWindow other(chip, 8, kStrict);
      EXPECT_TRUE(window.Write(kData, kNewData).ok());
      return (reader == 7 ? window : other).Read(kData) == kNewData;
    };
  };
  ExpectHolds("host", sees(kStrict, 7));
  for (const uint32_t ordering : {kRelaxed, kPosted}) ExpectBites("host", sees(ordering, 7));
  ExpectBites("host", sees(kStrict, 8));
}

// A window that is moved takes its order along, and its writes arrive where it pointed.
TEST(HazardHost, AMovedWindowKeepsItsOrder) {
  constexpr hw::Coordinate kOther = {4, 6};
  ExpectHolds("host", [&](SimChip& chip) {
    HostWindow data(chip, 7, kStrict);
    EXPECT_TRUE(data.Write(kData, kNewData).ok());
    HostWindow moved(chip, 7, kStrict, kOther);
    EXPECT_EQ(moved.Read(kData), 0u);
    HostWindow watch(chip, 9, kRelaxed);
    return watch.Read(kData) == kNewData;
  });
}

TEST(HazardHost, EqualSeedsGiveEqualRuns) {
  const auto clocks = [](uint64_t seed) {
    SimChip chip = ChipWith("host", seed);
    HostWindow window(chip, 7, kRelaxed);
    std::vector<uint64_t> arrived;
    for (uint32_t i = 0; i < 20; ++i) {
      EXPECT_TRUE(window.Write(kData + 4 * i, i).ok());
      EXPECT_TRUE(chip.device().Advance(10'000).ok());
      arrived.push_back(chip.chip().clock());
    }
    return arrived;
  };
  EXPECT_EQ(clocks(3), clocks(3));
  EXPECT_NE(clocks(3), clocks(4));
}

TEST(HazardHost, AnsweredIsTheNextCallForAWriteThatIsRefusedWhenItArrives) {
  SimChip chip = ChipWith("host", 1);
  HostWindow window(chip, 7, kStrict);
  EXPECT_TRUE(window.Write(hw::kL1Bytes, 1).ok());  // nothing is there
  EXPECT_TRUE(chip.device().Advance(10'000)->quiescent);
  EXPECT_EQ(window.Write(kData, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(window.Write(kData, 2).ok());
  EXPECT_EQ(window.Read(kData), 2u);
}

TEST(HazardHost, AResetDiscardsWhatIsUnderWay) {
  SimChip chip = ChipWith("host", 1);
  HostWindow window(chip, 7, kRelaxed);
  EXPECT_TRUE(window.Write(kData, 1).ok());
  chip.Reset();
  EXPECT_TRUE(chip.device().Advance(10'000)->quiescent);
  EXPECT_EQ(HostWindow(chip, 7, kRelaxed).Read(kData), 0u);
}

}  // namespace
}  // namespace ttfd::sim_hazard_host_test
