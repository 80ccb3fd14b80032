// Turns harvesting masks into coordinates.
#include "runtime/device/card_info.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/device/problem.h"
#include "runtime/hw/arc.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

std::string BoardName(uint32_t board_id_high) {
  const uint32_t card = board_id_high >> 4 & 0xFFFF;
  switch (card) {
    case hw::kCardP100:
      return "p100";
    case hw::kCardP100a:
      return "p100a";
    case hw::kCardP150a:
    case hw::kCardP150b:
    case hw::kCardP150c:
      return "p150";
    case hw::kCardP300a:
    case hw::kCardP300b:
    case hw::kCardP300c:
      return "p300";
    default:
      return fmt::format("blackhole-{:#x}", card);
  }
}

// The Tensix tile next to the port of a physical bank that NoC 0 prefers: in the first enabled column at the right of
// the bank's. Translation packs enabled columns to the left.
hw::Coordinate NeighborOf(uint32_t bank, uint32_t enabled_columns, const DeviceInfo& info) {
  size_t left = 0;
  for (uint32_t i = 0; i < hw::kTensixColumns; ++i) {
    const bool enabled = (enabled_columns >> i & 1) != 0;
    if (enabled && hw::kTensixHarvestColumnX[i] < hw::kDramColumnX[bank / 4]) ++left;
  }
  return {info.tensix_columns[std::min(left, info.tensix_columns.size() - 1)],
          hw::kDramPortRow[bank % 4][hw::kDramPreferredPort[bank][0]]};
}

void FillDramPorts(uint32_t enabled, uint32_t enabled_columns, DeviceInfo* info) {
  const uint32_t disabled = ~enabled & ((1u << hw::kDramBanks) - 1);
  const uint32_t harvested =
      disabled == 0 ? hw::kNoHarvestedBank : static_cast<uint32_t>(std::countr_zero(disabled));
  for (uint32_t column = 0; column < 2; ++column) {
    for (uint32_t group = 0; group < hw::kDramBanks / 2; ++group) {
      const uint32_t bank = hw::DramTranslatedBank(harvested, column, group);
      if (bank == harvested) continue;
      for (uint32_t noc = 0; noc < 2; ++noc) {
        const uint32_t y = hw::kDramTranslatedFirstRow + group * hw::kDramPortsPerBank +
                           hw::kDramPreferredPort[bank][noc];
        info->dram_port_xy[noc].push_back(hw::NocXy(hw::kDramTranslatedX[column], y));
      }
      info->dram_neighbors.push_back(NeighborOf(bank, enabled_columns, *info));
    }
  }
}

}  // namespace

StatusOr<DeviceInfo> ReadCardInfo(const Telemetry& telemetry, Window& arc) {
  const auto read = [&](uint32_t tag, uint32_t missing) -> StatusOr<uint32_t> {
    return telemetry.Has(tag) ? telemetry.Read(arc, tag) : missing;
  };
  ASSIGN_OR_RETURN(const uint32_t translation, read(hw::kTagTranslation, 1));
  if (translation == 0) {
    return ProblemError(
        Problem::kFirmwareUnsupported, StatusCode::kFailedPrecondition,
        "the card runs without NoC coordinate translation (telemetry tag {}): turn it on with the "
        "vendor's firmware tools",
        static_cast<uint32_t>(hw::kTagTranslation));
  }
  constexpr uint32_t kAllColumns = (1u << hw::kTensixColumns) - 1;
  constexpr uint32_t kAllBanks = (1u << hw::kDramBanks) - 1;
  ASSIGN_OR_RETURN(uint32_t columns, read(hw::kTagEnabledTensixColumns, kAllColumns));
  ASSIGN_OR_RETURN(uint32_t banks, read(hw::kTagEnabledDram, kAllBanks));
  columns &= kAllColumns;
  banks &= kAllBanks;
  if (columns == 0 || std::popcount(banks) < static_cast<int>(hw::kDramBanks) - 1) {
    return ProblemError(
        Problem::kFirmwareUnsupported, StatusCode::kFailedPrecondition,
        "a card with Tensix columns {:#x} and DRAM banks {:#x} is not supported (at most one bank "
        "may be harvested): choose another card",
        columns, banks);
  }
  DeviceInfo info;
  ASSIGN_OR_RETURN(const uint32_t ethernet, read(hw::kTagEnabledEth, 0));
  for (uint32_t channel = 0; channel < hw::kEthChannels; ++channel) {
    if ((ethernet >> channel & 1) != 0) info.ethernet_channels.push_back(channel);
  }
  ASSIGN_OR_RETURN(const uint32_t board, read(hw::kTagBoardIdHigh, 0));
  info.board = BoardName(board);
  const auto read_id = [&](uint32_t high, uint32_t low) -> StatusOr<uint64_t> {
    ASSIGN_OR_RETURN(const uint64_t high_word, read(high, 0));
    ASSIGN_OR_RETURN(const uint32_t low_word, read(low, 0));
    return high_word << 32 | low_word;
  };
  ASSIGN_OR_RETURN(info.id.board, read_id(hw::kTagBoardIdHigh, hw::kTagBoardIdLow));
  ASSIGN_OR_RETURN(info.id.asic, read_id(hw::kTagAsicIdHigh, hw::kTagAsicIdLow));
  const int count = std::popcount(columns);  // packed to the left by translation
  info.tensix_columns.assign(hw::kTensixColumnX, hw::kTensixColumnX + count);
  FillDramPorts(banks, columns, &info);
  info.dram_bank_bytes = hw::kDramBankBytes;
  constexpr uint64_t kHzPerMhz = 1000000;
  // An idle card's clock is lower than the one it has while it is used.
  ASSIGN_OR_RETURN(uint32_t mhz, read(hw::kTagAiclkMhz, hw::kAiclkBusyHz / kHzPerMhz));
  ASSIGN_OR_RETURN(mhz, read(hw::kTagAiclkMaxMhz, mhz));
  info.clock_hz = mhz * kHzPerMhz;
  return info;
}

Status CheckReportsGrid(const Telemetry& telemetry) {
  const std::pair<uint32_t, const char*> tags[] = {{hw::kTagEnabledTensixColumns, "Tensix columns"},
                                                   {hw::kTagEnabledDram, "DRAM banks"}};
  for (const auto& [tag, name] : tags) {
    if (telemetry.Has(tag)) continue;
    return ProblemError(Problem::kFirmwareUnsupported, StatusCode::kFailedPrecondition,
                        "the card's firmware does not report its {} (telemetry tag {}): update it "
                        "to bundle 18.4 or later",
                        name, tag);
  }
  return OkStatus();
}

}  // namespace ttfd
