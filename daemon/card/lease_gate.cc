// Decides which slices may be taken while parts of the card are leased.
#include "daemon/card/lease_gate.h"

#include "daemon/session/session_queue.h"

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

WorkerUse LeaseGate::UseOf(const Slice& slice) {
  WorkerUse use;
  use.named = slice.queue->route.workers;
  use.kernels = slice.runs_kernels() || std::holds_alternative<RecordTraceCommand>(slice.command);
  if (const auto* launch = std::get_if<LaunchCommand>(&slice.command)) {
    use.tiles = launch->program->tiles;
  }
  return use;
}

const TileSet& LeaseGate::WorkersOf(const Slice& slice) const {
  const TileSet& named = slice.queue->route.workers;
  return SeenClosed() && slice.share().lease == 0 && named.none() ? seen_.others : named;
}

bool LeaseGate::Admits(const State& state, const WorkerUse& use) {
  if (state.whole) return false;
  if (use.named.any()) return (use.named & state.tiles).none();
  if (use.kernels && use.tiles.none()) return state.tiles.none();
  return (use.tiles & state.tiles).none();
}

}  // namespace ttfd
