// Which commands of a session without a lease wait because others lease workers.
#include "daemon/core/lease_wait.h"

#include <algorithm>

namespace ttfd {

std::optional<TileSet> BlockedByLeases(const std::map<uint32_t, SessionQueue>& queues,
                                       uint32_t device, const LeaseGate& gate, bool settled) {
  std::optional<TileSet> blocked;
  for (const auto& [id, queue] : queues) {
    if (queue.card->device != device) continue;
    const Slice* const next = queue.slices.next();
    if (next == nullptr || (next->operation->started() && !settled)) continue;
    const WorkerUse use = LeaseGate::UseOf(*next);
    if (!gate.Blocks(use)) continue;
    const TileSet& needed = use.named.any() ? use.named : use.tiles;
    const bool all = needed.none() || (blocked && blocked->none());
    blocked = all ? TileSet() : blocked.value_or(TileSet()) | needed;
  }
  return blocked;
}

}  // namespace ttfd
