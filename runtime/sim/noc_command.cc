// Virtual channels, and coordinates that are written back.
#include "runtime/sim/noc_command.h"

#include "runtime/hw/noc.h"

namespace ttfd::sim {

Refusal CheckChannel(uint32_t control) {
  const bool multicast = (control & hw::kNocMulticast) != 0;
  const uint32_t channel_class = control >> (hw::kNocVcShift + 1) & 3;
  if ((control & hw::kNocStaticVc) == 0 || (multicast ? channel_class == 2 : channel_class <= 1)) {
    return {};
  }
  return {FaultKind::kNocControl, control,
          "static virtual channels: unicasts use 0 to 3, multicasts 4 and 5"};
}

void TranslateInPlace(const GridMap& grid, uint32_t niu, NocCommand& command) {
  const auto on_noc = [&](uint32_t xy) {
    const hw::Coordinate at = grid.OnNoc(niu, {hw::NocX(xy), hw::NocY(xy)});
    return hw::NocXy(at.x, at.y);
  };
  for (const uint32_t offset : {hw::kNocTargetHigh, hw::kNocReturnHigh}) {
    uint32_t& word = *command.Register(offset);
    const uint32_t start = word >> 12;
    word = on_noc(word) | (start == 0 ? 0 : on_noc(start) << 12);
  }
}

}  // namespace ttfd::sim
