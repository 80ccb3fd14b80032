// Reads the ARC's boot status.
#include "runtime/device/kmd/presence.h"

#include "runtime/hw/arc.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {

Presence::Presence(Node& node, WindowPool& pool)
    : node_(node), claim_(pool, UnicastTarget(hw::kArc)) {}

Status Presence::Check() {
  constexpr uint64_t kAddress = hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus;
  constexpr uint64_t kBase = kAddress & ~(hw::kTlbWindow2MBytes - 1);
  ASSIGN_OR_RETURN(const HardwareWindow* const window, claim_.pool().Show(claim_, kBase));
  uint32_t status = 0;
  if (!node_.bus().Load(window->uncached, kAddress - kBase, &status)) {
    return node_.Lose(kMappingWithdrawn);
  }
  return status == kAllOnes ? node_.FallSilent() : OkStatus();
}

}  // namespace ttfd::kmd
