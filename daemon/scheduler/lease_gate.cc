// Which works may be taken while parts of the card are leased.
#include "daemon/scheduler/lease_gate.h"

namespace ttfd {

void LeaseGate::Set(bool whole, const TileSet& tiles, const TileSet& all) {
  MutexLock lock(&mu_);
  state_.whole = whole;
  state_.tiles = tiles;
  state_.others = all & ~tiles;
  version_.fetch_add(1, std::memory_order_release);
  closed_.store(whole || tiles.any(), std::memory_order_release);
}

void LeaseGate::Refresh() {
  MutexLock lock(&mu_);
  seen_ = state_;
  seen_version_ = version_.load(std::memory_order_relaxed);
}

bool LeaseGate::AdmitsShared(const Work& work) const {
  if (seen_.whole) return false;
  const TileSet& named = work.track->route().workers;
  if (named.any()) return (named & seen_.tiles).none();
  if (const auto* launch = std::get_if<LaunchCommand>(&work.command)) {
    return (launch->program->tiles & seen_.tiles).none();
  }
  return !work.runs_kernels() && !std::holds_alternative<RecordTraceCommand>(work.command);
}

}  // namespace ttfd
