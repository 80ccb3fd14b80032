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

bool LeaseGate::Blocks(const WorkerUse& use) const {
  MutexLock lock(&mu_);
  return !Admits(state_, use);
}

WorkerUse LeaseGate::UseOf(const Work& work) {
  WorkerUse use;
  use.named = work.track->route().workers;
  use.kernels = work.runs_kernels() || std::holds_alternative<RecordTraceCommand>(work.command);
  if (const auto* launch = std::get_if<LaunchCommand>(&work.command)) {
    use.tiles = launch->program->tiles;
  }
  return use;
}

bool LeaseGate::Admits(const State& state, const WorkerUse& use) {
  if (state.whole) return false;
  if (use.named.any()) return (use.named & state.tiles).none();
  if (use.kernels && use.tiles.none()) return state.tiles.none();
  return (use.tiles & state.tiles).none();
}

}  // namespace ttfd
