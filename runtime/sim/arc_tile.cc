// Telemetry of the model. Figures of a card at rest are named once, here.
#include "runtime/sim/arc_tile.h"

#include "runtime/hw/pcie.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kTable = hw::kArcCsm + 0x1000;
constexpr uint32_t kValues = hw::kArcCsm + 0x2000;
constexpr uint32_t kBootStatusReady = 5;  // tt-umd: (status & 7) == 5
constexpr uint32_t kTagAsicId = 3;
constexpr uint32_t kTagHarvestingState = 4;
constexpr uint32_t kFirstInstanceIsEndpoint = 1;  // kTagPcieUsage: instance 0 only

struct Entry {
  uint32_t tag;
  uint32_t value;
};

std::vector<Entry> Telemetry(const ChipOptions& options, const GridMap& grid) {
  const ChipIdentity chip = IdentityOf(options);
  const bool harvested =
      !options.harvested_columns.empty() || options.harvested_bank != hw::kNoHarvestedBank;
  return {
      {hw::kTagBoardIdHigh, static_cast<uint32_t>(chip.board >> 32)},
      {hw::kTagBoardIdLow, static_cast<uint32_t>(chip.board)},
      {kTagAsicId, 1},
      {kTagHarvestingState, harvested ? 1u : 0u},
      {hw::kTagAsicTemperature, 40u << 16},
      {hw::kTagAiclkMhz, static_cast<uint32_t>(hw::kAiclkBusyHz / 1000000)},
      {hw::kTagAxiclkMhz, 960},
      {hw::kTagArcclkMhz, 800},
      {hw::kTagLiveEth, options.ethernet_channels},
      {hw::kTagFirmwareBundle, 0},  // no Tenstorrent firmware runs here
      {hw::kTagHeartbeat, 1},
      {hw::kTagEnabledTensixColumns, grid.enabled_columns_mask()},
      {hw::kTagEnabledEth, options.ethernet_channels},
      {hw::kTagEnabledDram, grid.enabled_banks_mask()},
      {hw::kTagEnabledL2cpu, 0},
      {hw::kTagPcieUsage, kFirstInstanceIsEndpoint},
      {hw::kTagTranslation, 1},
      {hw::kTagAsicIdHigh, static_cast<uint32_t>(chip.asic >> 32)},
      {hw::kTagAsicIdLow, static_cast<uint32_t>(chip.asic)},
  };
}

}  // namespace

ArcTile::ArcTile(const ChipOptions& options, const GridMap& grid) {
  const std::vector<Entry> entries = Telemetry(options, grid);
  table_ = {hw::kTelemetryVersion, static_cast<uint32_t>(entries.size())};
  for (uint32_t i = 0; i < entries.size(); ++i) {
    table_.push_back(entries[i].tag | i << 16);
    values_.push_back(entries[i].value);
  }
  Reset();
}

void ArcTile::Reset() {
  scratch_ = {};
  scratch_[hw::kArcScratchBootStatus] = kBootStatusReady;
  scratch_[hw::kArcScratchTelemetryValues] = kValues;
  scratch_[hw::kArcScratchTelemetryTable] = kTable;
}

Refusal ArcTile::Read(uint64_t address, uint32_t* value) const {
  const auto word_of = [&](uint64_t base, const auto& words) {
    const bool inside = address >= base && address - base < words.size() * 4;
    if (inside) *value = words[(address - base) / 4];
    return inside;
  };
  if (word_of(hw::kArcScratchRam, scratch_) || word_of(kTable, table_) ||
      word_of(kValues, values_)) {
    return {};
  }
  return {FaultKind::kUnsupportedRegister, address,
          "of the ARC tile the scratch words and the telemetry table are modelled"};
}

Refusal ArcTile::Write(uint64_t address, uint32_t value) {
  const uint64_t index = (address - hw::kArcScratchRam) / 4;
  const bool used = index == hw::kArcScratchBootStatus || index == hw::kArcScratchTelemetryValues ||
                    index == hw::kArcScratchTelemetryTable;
  if (address < hw::kArcScratchRam || index >= kScratchWords || used) {
    return {FaultKind::kUnsupportedRegister, address,
            "of the ARC tile only the free scratch words may be written"};
  }
  scratch_[index] = value;
  return {};
}

}  // namespace ttfd::sim
