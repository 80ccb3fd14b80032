// What is made of a telemetry table, whole, partial or wrong.
#include "runtime/device/card_info.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/hw/arc.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

// An ARC tile made of words.
class FakeArc final : public Window {
 public:
  FakeArc() {
    words_[hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus] = 5;
    words_[hw::kArcScratchRam + 4 * hw::kArcScratchTelemetryTable] = kTable;
    words_[hw::kArcScratchRam + 4 * hw::kArcScratchTelemetryValues] = kValues;
    words_[kTable] = hw::kTelemetryVersion;
    words_[kTable + 4] = 0;
  }
  void Add(uint32_t tag, uint32_t value) {
    const uint32_t index = words_[kTable + 4]++;
    words_[kTable + 8 + 4 * index] = tag | index << 16;
    words_[kValues + 4 * index] = value;
  }
  uint32_t& word(uint64_t address) { return words_[address]; }

  Status Read(uint64_t address, MutableByteSpan to) override {
    if (to.size() != 4 || !words_.contains(address)) return InvalidArgument("{:#x}", address);
    StoreAt(to.data(), words_[address]);
    return OkStatus();
  }
  Status Write(uint64_t, ByteSpan) override { return InvalidArgument("read only"); }

  static constexpr uint32_t kTable = 0x10001000;
  static constexpr uint32_t kValues = 0x10002000;

 private:
  std::map<uint64_t, uint32_t> words_;
};

TEST(CardInfo, WithoutHarvestingTagsNothingIsHarvested) {
  FakeArc arc;
  const DeviceInfo info = ReadCardInfo(arc).value();
  EXPECT_EQ(info.tensix_columns.size(), 14u);
  EXPECT_EQ(info.dram_port_xy[0].size(), 8u);
  EXPECT_EQ(info.clock_hz, hw::kAiclkBusyHz);
}

TEST(CardInfo, TranslatesMasksToCoordinates) {
  FakeArc arc;
  arc.Add(hw::kTagBoardIdHigh, hw::kCardP100a << 4);
  arc.Add(hw::kTagEnabledTensixColumns, 0x3FFF & ~192u);
  arc.Add(hw::kTagEnabledDram, 0xFF & ~4u);  // bank 2: ttsim's fixed map
  arc.Add(hw::kTagAiclkMhz, 800);
  const DeviceInfo info = ReadCardInfo(arc).value();
  EXPECT_EQ(info.board, "p100a");
  EXPECT_EQ(info.clock_hz, 800000000u);
  EXPECT_EQ(info.tensix_columns, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14}));
  // Banks 4,5,7,6 at x 17 and 0,1,3 at x 18; the preferred port of each, per NoC.
  const std::vector<uint32_t> noc0 = {hw::NocXy(17, 14), hw::NocXy(17, 17), hw::NocXy(17, 20),
                                      hw::NocXy(17, 23), hw::NocXy(18, 14), hw::NocXy(18, 15),
                                      hw::NocXy(18, 18)};
  EXPECT_EQ(info.dram_port_xy[0], noc0);
  EXPECT_EQ(info.dram_port_xy[1][0], hw::NocXy(17, 13));
  EXPECT_EQ(info.dram_port_xy[1][5], hw::NocXy(18, 16));
}

TEST(CardInfo, RefusesACardItDoesNotUnderstand) {
  FakeArc booting;
  booting.word(hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus) = 1;
  EXPECT_EQ(ReadCardInfo(booting).status().code(), StatusCode::kUnavailable);
  FakeArc newer;
  newer.word(FakeArc::kTable) = 2 << 16;
  EXPECT_EQ(ReadCardInfo(newer).status().code(), StatusCode::kFailedPrecondition);
  FakeArc endless;
  endless.word(FakeArc::kTable + 4) = 0xFFFFFFFF;
  EXPECT_EQ(ReadCardInfo(endless).status().code(), StatusCode::kFailedPrecondition);
  FakeArc poor;
  poor.Add(hw::kTagEnabledDram, 0x3F);
  EXPECT_EQ(ReadCardInfo(poor).status().code(), StatusCode::kFailedPrecondition);
  FakeArc untranslated;
  untranslated.Add(hw::kTagTranslation, 0);
  EXPECT_EQ(ReadCardInfo(untranslated).status().code(), StatusCode::kFailedPrecondition);
  FakeArc empty;
  empty.Add(hw::kTagEnabledTensixColumns, 0);
  EXPECT_EQ(ReadCardInfo(empty).status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ttfd
