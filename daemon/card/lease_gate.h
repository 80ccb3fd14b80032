// Decides which slices may be taken while parts of the card are leased: nothing else keeps sessions off leased parts.
//
//   slice of                the whole device leased   some workers leased
//   that lease              taken                     taken; its queues have no other workers
//   a shared session's      waits                     taken, if its queue was opened with none of them
//   queue with workers                                waits, if with some of them
//   a shared session's      waits                     a transfer is taken, a launch if it runs on none of them:
//   queue of all workers                              both as if the queue had the other workers;
//                                                     a trace waits, whose records are made for all workers
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "daemon/session/slice.h"
#include "runtime/base/mutex.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

// Properties of a command that decide whether leases keep it from the card.
struct WorkerUse {
  TileSet named;         // workers of its queue; none: the queue names none
  bool kernels = false;  // it runs kernels, or records a trace of them
  TileSet tiles;         // that its kernels run on; none: on any
};

class LeaseGate {
 public:
  // ---- any thread

  // `whole`: a lease of the whole device is held; else `tiles` are leased, perhaps none. `all`: the card's workers.
  void Set(bool whole, const TileSet& tiles, const TileSet& all) ABSL_LOCKS_EXCLUDED(mu_);

  // Something is leased.
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // The whole device is.
  bool whole() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return state_.whole;
  }
  // Leases keep commands of shared sessions on these workers from the card now.
  bool Blocks(const WorkerUse& use) const ABSL_LOCKS_EXCLUDED(mu_);
  static WorkerUse UseOf(const Slice& slice);

  // ---- device thread

  // Reads the leases: Admits and WorkersOf use this state until the next Look, so that all decisions about a slice are
  // of one moment. A trace that was admitted just before a lease came must not be narrowed just after.
  void Look() {
    if (version_.load(std::memory_order_acquire) != seen_version_) Refresh();
  }
  // Was something leased then?
  bool SeenClosed() const { return seen_.whole || seen_.tiles.any(); }
  bool Admits(const Slice& slice) const {
    return !SeenClosed() || slice.share().lease != 0 || AdmitsShared(slice);
  }
  // The workers that an admitted slice has: those that its queue named, or what leases leave of all; none: all.
  const TileSet& WorkersOf(const Slice& slice) const;

 private:
  struct State {
    bool whole = false;
    TileSet tiles;
    TileSet others;  // that are not leased
  };

  static bool Admits(const State& state, const WorkerUse& use);
  bool AdmitsShared(const Slice& slice) const { return Admits(seen_, UseOf(slice)); }
  void Refresh() ABSL_LOCKS_EXCLUDED(mu_);

  std::atomic<bool> closed_{false};
  std::atomic<uint64_t> version_{1};
  mutable Mutex mu_;
  State state_ ABSL_GUARDED_BY(mu_);

  // Device thread.
  State seen_;
  uint64_t seen_version_ = 0;
};

}  // namespace ttfd
