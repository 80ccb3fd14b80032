// Reads the telemetry table and turns harvesting masks into coordinates.
#include "runtime/device/card_info.h"

#include <bit>
#include <map>

#include "runtime/hw/arc.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

constexpr uint32_t kBootMask = 7;
constexpr uint32_t kBootReady = 5;
constexpr uint32_t kMaxTelemetryEntries = 256;  // tt-umd's tags end at 64
constexpr uint32_t kMaxTableVersion = 1;

StatusOr<uint32_t> Scratch(Window& arc, uint32_t index) {
  return ReadWord(arc, hw::kArcScratchRam + 4 * index);
}

StatusOr<std::map<uint32_t, uint32_t>> ReadTelemetry(Window& arc) {
  ASSIGN_OR_RETURN(const uint32_t boot, Scratch(arc, hw::kArcScratchBootStatus));
  if ((boot & kBootMask) != kBootReady) {
    return Error(StatusCode::kUnavailable, "the card's ARC has not booted (status {:#x})", boot);
  }
  ASSIGN_OR_RETURN(const uint32_t table, Scratch(arc, hw::kArcScratchTelemetryTable));
  ASSIGN_OR_RETURN(const uint32_t values, Scratch(arc, hw::kArcScratchTelemetryValues));
  ASSIGN_OR_RETURN(const uint32_t version, ReadWord(arc, table));
  ASSIGN_OR_RETURN(const uint32_t count, ReadWord(arc, table + 4));
  if (version >> 16 > kMaxTableVersion || count > kMaxTelemetryEntries) {
    return Error(StatusCode::kFailedPrecondition,
                 "telemetry table version {:#x} with {} entries is not understood", version, count);
  }
  std::map<uint32_t, uint32_t> telemetry;
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint32_t entry, ReadWord(arc, table + 8 + 4 * i));
    ASSIGN_OR_RETURN(telemetry[entry & 0xFFFF], ReadWord(arc, values + 4 * (entry >> 16)));
  }
  return telemetry;
}

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
    default:
      return fmt::format("blackhole-{:#x}", card);
  }
}

void FillDramPorts(uint32_t enabled, DeviceInfo* info) {
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
    }
  }
}

}  // namespace

StatusOr<DeviceInfo> ReadCardInfo(Window& arc) {
  ASSIGN_OR_RETURN(const auto telemetry, ReadTelemetry(arc));
  const auto tag = [&telemetry](uint32_t number, uint32_t missing) {
    const auto found = telemetry.find(number);
    return found == telemetry.end() ? missing : found->second;
  };
  if (tag(hw::kTagTranslation, 1) == 0) {
    return Error(StatusCode::kFailedPrecondition,
                 "the card runs without NoC coordinate translation (telemetry tag {})",
                 static_cast<uint32_t>(hw::kTagTranslation));
  }
  constexpr uint32_t kAllColumns = (1u << hw::kTensixColumns) - 1;
  constexpr uint32_t kAllBanks = (1u << hw::kDramBanks) - 1;
  const uint32_t columns = tag(hw::kTagEnabledTensixColumns, kAllColumns) & kAllColumns;
  const uint32_t banks = tag(hw::kTagEnabledDram, kAllBanks) & kAllBanks;
  if (columns == 0 || std::popcount(banks) < static_cast<int>(hw::kDramBanks) - 1) {
    return Error(StatusCode::kFailedPrecondition,
                 "a card with Tensix columns {:#x} and DRAM banks {:#x} is not supported (at most "
                 "one bank may be harvested)",
                 columns, banks);
  }
  DeviceInfo info;
  info.board = BoardName(tag(hw::kTagBoardIdHigh, 0));
  const int count = std::popcount(columns);  // packed to the left by translation
  info.tensix_columns.assign(hw::kTensixColumnX, hw::kTensixColumnX + count);
  FillDramPorts(banks, &info);
  info.dram_bank_bytes = hw::kDramBankBytes;
  constexpr uint64_t kHzPerMhz = 1000000;
  info.clock_hz = tag(hw::kTagAiclkMhz, hw::kAiclkBusyHz / kHzPerMhz) * kHzPerMhz;
  return info;
}

}  // namespace ttfd
