// Which workers belong to which sub-device, and which hardware queue launches on them.
//
// Sub-devices are disjoint sets of workers. Each has a number, which is its go word and its stream on
// the dispatch tiles; a set is made when a launch first asks for it, and takes its workers from the sets
// that had them. One hardware queue owns a set at a time. Pure data structure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "runtime/abi/control_block.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

struct WorkerSet {
  TileSet tiles;  // none: there is no such set now
  uint32_t hardware_queue = 0;
  uint32_t generation = 0;  // of its go words
  bool publishes = false;   // dispatch_s reports launches that have ended
  uint64_t last_use = 0;
};

class WorkerSets {
 public:
  explicit WorkerSets(const TileSet& all) : all_(all) { Clear(); }

  // As after a boot: set 0 is all workers, and hardware queue 0 owns it.
  void Clear();

  const TileSet& all() const { return all_; }
  WorkerSet& operator[](uint32_t number) { return sets_[number]; }
  const WorkerSet& operator[](uint32_t number) const { return sets_[number]; }

  // The number of the set of exactly these workers, if there is one.
  std::optional<uint32_t> Find(const TileSet& tiles) const;
  void Touch(uint32_t number) { sets_[number].last_use = ++uses_; }

  // How to make a set of `tiles`.
  struct Change {
    uint32_t number = 0;
    uint32_t generation = 0;  // differs from that of the previous set of the number
    uint32_t ended =
        0;            // bit n: set n loses workers or its number, so it must be idle and is no more
    TileSet orphans;  // workers of those sets that belong to none then
  };
  // `number`: which one it has to be; without it, the least disturbing.
  Change Plan(const TileSet& tiles, std::optional<uint32_t> number) const;
  void Apply(const Change& change, const TileSet& tiles, uint32_t hardware_queue);

  // Bit n: set n has some of these workers.
  uint32_t Overlapping(const TileSet& tiles) const;

 private:
  uint32_t ChooseNumber(const TileSet& tiles, uint32_t ended) const;

  TileSet all_;
  std::array<WorkerSet, abi::kMaxSubDevices> sets_;
  std::array<uint32_t, abi::kMaxSubDevices> lives_{};  // how many sets had the number
  uint64_t uses_ = 0;
};

}  // namespace ttfd
