// What is made of a telemetry table, whole, partial or wrong.
#include "runtime/device/card_info.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/device/card_health.h"
#include "runtime/device/problem.h"
#include "runtime/hw/arc.h"
#include "runtime/hw/noc.h"

namespace ttfd::card_info_test {
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

StatusOr<DeviceInfo> InfoOf(FakeArc& arc) {
  ASSIGN_OR_RETURN(const Telemetry telemetry, Telemetry::Find(arc));
  return ReadCardInfo(telemetry, arc);
}

TEST(CardInfo, WithoutHarvestingTagsNothingIsHarvested) {
  FakeArc arc;
  const DeviceInfo info = InfoOf(arc).value();
  EXPECT_EQ(info.tensix_columns.size(), 14u);
  EXPECT_EQ(info.dram_port_xy[0].size(), 8u);
  // By bank: the row of the port that NoC 0 prefers, and the column at the right of the bank's.
  const std::vector<hw::Coordinate> neighbors = {{1, 11},  {1, 2},  {1, 9},  {1, 5},
                                                 {10, 11}, {10, 3}, {10, 8}, {10, 6}};
  EXPECT_EQ(info.dram_neighbors, neighbors);
  EXPECT_EQ(info.clock_hz, hw::kAiclkBusyHz);
}

TEST(CardInfo, TranslatesMasksToCoordinates) {
  FakeArc arc;
  arc.Add(hw::kTagBoardIdHigh, hw::kCardP100a << 4);
  arc.Add(hw::kTagEnabledTensixColumns, 0x3FFF & ~192u);
  arc.Add(hw::kTagEnabledDram, 0xFF & ~4u);  // bank 2: ttsim's fixed map
  arc.Add(hw::kTagAiclkMhz, 800);            // of an idle card
  arc.Add(hw::kTagAiclkMaxMhz, 1350);
  const DeviceInfo info = InfoOf(arc).value();
  EXPECT_EQ(info.board, "p100a");
  EXPECT_EQ(info.clock_hz, hw::kAiclkBusyHz);
  EXPECT_EQ(info.tensix_columns, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14}));
  // Banks 4,5,7,6 at x 17 and 0,1,3 at x 18; the preferred port of each, per NoC.
  const std::vector<uint32_t> noc0 = {hw::NocXy(17, 14), hw::NocXy(17, 17), hw::NocXy(17, 20),
                                      hw::NocXy(17, 23), hw::NocXy(18, 14), hw::NocXy(18, 15),
                                      hw::NocXy(18, 18)};
  EXPECT_EQ(info.dram_port_xy[0], noc0);
  EXPECT_EQ(info.dram_port_xy[1][0], hw::NocXy(17, 13));
  EXPECT_EQ(info.dram_port_xy[1][5], hw::NocXy(18, 16));
  // Columns 4 and 13 are harvested: that at the right of banks 4 to 7 is the seventh that is left.
  const std::vector<hw::Coordinate> neighbors = {{7, 11}, {7, 3}, {7, 6}, {7, 8},
                                                 {1, 11}, {1, 2}, {1, 5}};
  EXPECT_EQ(info.dram_neighbors, neighbors);
}

TEST(CardInfo, ANeighborOfABankIsATileThatIsThere) {
  FakeArc arc;
  arc.Add(hw::kTagEnabledTensixColumns, 1 << 0 | 1 << 2);  // columns 1 and 2
  const DeviceInfo info = InfoOf(arc).value();
  EXPECT_EQ(info.dram_neighbors[0], (hw::Coordinate{1, 11}));
  EXPECT_EQ(info.dram_neighbors[7], (hw::Coordinate{2, 6})) << "the column nearest to its own";
}

TEST(CardInfo, NamesBoards) {
  for (const auto& [type, name] : std::map<uint32_t, std::string>{{hw::kCardP150b, "p150"},
                                                                  {hw::kCardP300a, "p300"},
                                                                  {hw::kCardP300c, "p300"},
                                                                  {0x47, "blackhole-0x47"}}) {
    FakeArc arc;
    arc.Add(hw::kTagBoardIdHigh, type << 4);
    EXPECT_EQ(InfoOf(arc)->board, name);
  }
}

TEST(CardHealth, HasTheUnitsOfTelemetryAndNothingThatIsNotReported) {
  FakeArc arc;
  arc.Add(hw::kTagAsicTemperature, static_cast<uint32_t>(-(3 << 15)));  // -1.5
  arc.Add(hw::kTagPowerWatts, 75);
  arc.Add(hw::kTagAiclkMhz, 800);
  arc.Add(hw::kTagAiclkMaxMhz, 1350);
  arc.Add(hw::kTagFirmwareBundle, 0x13040002);
  arc.Add(hw::kTagPcieUsage, 1 << 2);
  arc.Add(hw::kTagAsicLocation, 1);
  CardHealth health;
  ReadHealthOf(Telemetry::Find(arc).value(), arc, &health);
  CardHealth expected;
  expected.temperature_celsius = -1.5;
  expected.power_watts = 75;
  expected.aiclk_mhz = 800;
  expected.aiclk_max_mhz = 1350;
  expected.pcie_instance = 1;
  expected.location = 1;
  expected.firmware = {{"bundle", "19.4.0.2"}};
  EXPECT_EQ(health, expected);
}

TEST(CardInfo, ACardHasToReportItsGrid) {
  FakeArc arc;
  EXPECT_EQ(ProblemOf(CheckReportsGrid(Telemetry::Find(arc).value())),
            Problem::kFirmwareUnsupported);
  arc.Add(hw::kTagEnabledTensixColumns, 1);
  const Status banks = CheckReportsGrid(Telemetry::Find(arc).value());
  EXPECT_EQ(StatusMessage(banks),
            "the card's firmware does not report its DRAM banks (telemetry tag 36): update it to "
            "bundle 18.4 or later");
  arc.Add(hw::kTagEnabledDram, 1);
  EXPECT_TRUE(CheckReportsGrid(Telemetry::Find(arc).value()).ok());
}

TEST(CardInfo, RefusesACardItDoesNotUnderstand) {
  using Change = void (*)(FakeArc&);
  const struct {
    Change change;
    StatusCode code;
    Problem problem;
  } table[] = {
      {[](FakeArc& arc) { arc.word(hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus) = 1; },
       StatusCode::kUnavailable, Problem::kFirmwareNotReady},
      {[](FakeArc& arc) { arc.word(hw::kArcScratchRam + 4 * hw::kArcScratchTelemetryTable) = 0; },
       StatusCode::kUnavailable, Problem::kFirmwareNotReady},
      {[](FakeArc& arc) { arc.word(FakeArc::kTable) = 2 << 16; }, StatusCode::kFailedPrecondition,
       Problem::kFirmwareUnsupported},
      {[](FakeArc& arc) { arc.word(FakeArc::kTable + 4) = 0xFFFFFFFF; },
       StatusCode::kFailedPrecondition, Problem::kFirmwareUnsupported},
      {[](FakeArc& arc) { arc.Add(hw::kTagEnabledDram, 0x3F); }, StatusCode::kFailedPrecondition,
       Problem::kFirmwareUnsupported},
      {[](FakeArc& arc) { arc.Add(hw::kTagTranslation, 0); }, StatusCode::kFailedPrecondition,
       Problem::kFirmwareUnsupported},
      {[](FakeArc& arc) { arc.Add(hw::kTagEnabledTensixColumns, 0); },
       StatusCode::kFailedPrecondition, Problem::kFirmwareUnsupported},
  };
  for (const auto& row : table) {
    FakeArc arc;
    row.change(arc);
    const Status status = InfoOf(arc).status();
    EXPECT_EQ(status.code(), row.code) << status.ToString();
    EXPECT_EQ(ProblemOf(Annotate(status, "boot")), row.problem) << status.ToString();
  }
}

}  // namespace
}  // namespace ttfd::card_info_test
