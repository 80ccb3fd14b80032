// The boards the model knows and what may be harvested from them.
#include "runtime/sim/options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "runtime/hw/arc.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kP150Channels = 0x0FFF;

}  // namespace

ChipOptions DefaultOptions(Board board) {
  if (board == Board::kP100a) return {board, 3, {4, 13}};
  return {board, hw::kNoHarvestedBank, {}, kP150Channels};
}

Status Validate(const ChipOptions& options) {
  if (options.harvested_bank != hw::kNoHarvestedBank && options.harvested_bank >= hw::kDramBanks) {
    return InvalidArgument("harvested DRAM bank {} is not one of 0..{}", options.harvested_bank,
                           hw::kDramBanks - 1);
  }
  if (options.harvested_columns.size() > hw::kTensixColumns - 2) {
    return InvalidArgument("{} harvested columns: at most {} of {} may be, two must be left",
                           options.harvested_columns.size(), hw::kTensixColumns - 2,
                           hw::kTensixColumns);
  }
  for (const uint32_t column : options.harvested_columns) {
    if (std::find(std::begin(hw::kTensixColumnX), std::end(hw::kTensixColumnX), column) ==
        std::end(hw::kTensixColumnX)) {
      return InvalidArgument("harvested column {} is not a Tensix column (1..7, 10..16)", column);
    }
    if (std::count(options.harvested_columns.begin(), options.harvested_columns.end(), column) >
        1) {
      return InvalidArgument("harvested column {} is named twice", column);
    }
  }
  if (options.ethernet_channels >> hw::kEthChannels != 0) {
    return InvalidArgument("Ethernet channels {:#x}: a chip has channels 0 to {}",
                           options.ethernet_channels, hw::kEthChannels - 1);
  }
  return OkStatus();
}

ChipIdentity IdentityOf(const ChipOptions& options) {
  constexpr uint32_t kCardTypeShift = 36;
  const uint64_t card = options.board == Board::kP100a ? hw::kCardP100a : hw::kCardP150a;
  return {card << kCardTypeShift | options.serial, options.serial};
}

const char* HostIsa() {
  const char* const isa = std::getenv("TTFD_SIM_ISA");
  return isa == nullptr ? "" : isa;
}

const char* BoardName(Board board) { return board == Board::kP100a ? "p100a" : "p150"; }

}  // namespace ttfd::sim
