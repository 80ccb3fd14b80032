// Chips that are connected by Ethernet links, run in step.
//
// Time is cut into slices of the latency of a link: a packet that is sent in one slice arrives in a later one, so chips
// do not see each other within a slice, and the result is the same on any number of threads and for any division of
// time into calls of Advance. Slices are shorter while the host drives a link. Where no chip has anything to do time
// jumps.
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/topology.h"

namespace ttfd::sim {

struct ClusterOptions {
  ChipOptions chip;  // the first; the others have the next serials and seeds of hazards
  Topology topology;
  uint32_t latency = 800;  // of a link, clocks
  uint32_t threads = 1;    // that run chips, the caller's included
};

// Not thread-safe, as Chip.
class Cluster {
 public:
  static constexpr uint32_t kMostThreads = 64;
  static constexpr uint32_t kMostLatency = 100'000;  // clocks: a call of Advance may run so long

  // INVALID_ARGUMENT names the option.
  static StatusOr<std::unique_ptr<Cluster>> Create(const ClusterOptions& options);
  // A chip without neighbours.
  explicit Cluster(std::unique_ptr<Chip> chip);
  ~Cluster();

  uint32_t size() const { return static_cast<uint32_t>(chips_.size()); }
  Chip& chip(uint32_t index) { return *chips_[index]; }

  // Chip::Advance for the owner of one chip: that chip's time advances by up to `clocks`. The cluster runs only where
  // this is ahead of what other owners have asked for. The result has the faults of this chip alone; others get theirs
  // when they call; those of a chip whose owner never calls are seen by no one. Quiescent: nothing happens any more in
  // the whole cluster.
  StatusOr<Chip::Progress> Advance(uint32_t index, uint64_t clocks);
  // Chip::Reset. Packets that are under way to the chip are lost, those from it arrive.
  Status Reset(uint32_t index);

  uint64_t clock() const { return now_; }

 private:
  // State of the owner of a chip.
  struct Owner {
    uint64_t clock = 0;
    Status fault;  // to be the result of the next call
  };
  // Threads besides the caller's: they wait at `start` for a slice and meet at `end`.
  struct Helpers {
    explicit Helpers(uint32_t count) : start(count), end(count) {}
    std::barrier<> start, end;
    bool stop = false;
    std::vector<std::thread> threads;
  };

  explicit Cluster(const ClusterOptions& options);
  void StartHelpers();
  void Connect(const ChipLink& link);

  // When the next slice begins: where a chip has something to do. kNever: none has. REQUIRES that no slice runs.
  uint64_t NextSlice();
  // Chooses its end and the chips that run in it.
  void BeginSlice(uint64_t begin);
  // False: some chips have done so much that the caller is to look around first (Scheduler::kEngineWork).
  bool RunSlice();
  void RunShare(uint32_t thread);
  void RunChip(uint32_t index);
  // Hands the packets that the chip has sent to its neighbours.
  void Exchange(Chip& chip);
  bool IsIdle() const;
  // Does the host give commands to a transmit queue at this clock? It waits for the end of one before it gives the
  // next, and sees the chips between two slices only: these are short meanwhile.
  bool HostDrivesLink(uint64_t clock) const;
  static constexpr uint32_t kHostSlice = 16;
  static constexpr uint64_t kHostPause = 4000;  // and four latencies: it drives none any more
  // Shows the present time to all chips.
  void CatchUp();

  const uint32_t slice_ = 0;
  const uint32_t threads_ = 1;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::vector<Owner> owners_;
  uint64_t now_ = 0;
  uint64_t slice_end_ = 0;
  std::vector<uint32_t> running_;  // chips that have not come to the end of the slice
  std::unique_ptr<Helpers> helpers_;
};

}  // namespace ttfd::sim
