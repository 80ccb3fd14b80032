// Which workers belong to which sub-device.
#include "runtime/card/worker_sets.h"

#include "runtime/abi/launch.h"

namespace ttfd {

void WorkerSets::Clear() {
  for (WorkerSet& set : sets_) set = WorkerSet();
  sets_[0].tiles = all_;
  lives_ = {};
  uses_ = 0;
}

std::optional<uint32_t> WorkerSets::Find(const TileSet& tiles) const {
  for (uint32_t number = 0; number < sets_.size(); ++number) {
    if (sets_[number].tiles == tiles) return number;
  }
  return std::nullopt;
}

uint32_t WorkerSets::Overlapping(const TileSet& tiles) const {
  uint32_t sets = 0;
  for (uint32_t number = 0; number < sets_.size(); ++number) {
    if ((sets_[number].tiles & tiles).any()) sets |= 1u << number;
  }
  return sets;
}

// A number nobody has: one that ends anyway, or never was; else that of the set unused for longest.
uint32_t WorkerSets::ChooseNumber(const TileSet& tiles, uint32_t ended) const {
  if (tiles == all_) return 0;
  uint32_t oldest = 0;
  for (uint32_t number = 0; number < sets_.size(); ++number) {
    if (sets_[number].tiles.none() || (ended >> number & 1) != 0) return number;
    if (sets_[number].last_use < sets_[oldest].last_use) oldest = number;
  }
  return oldest;
}

WorkerSets::Change WorkerSets::Plan(const TileSet& tiles, std::optional<uint32_t> number) const {
  Change change;
  change.ended = Overlapping(tiles);
  change.number = number.has_value() ? *number : ChooseNumber(tiles, change.ended);
  change.generation = (lives_[change.number] + 1) % abi::kGoGenerations;
  if (sets_[change.number].tiles.any()) change.ended |= 1u << change.number;
  for (uint32_t set = 0; set < sets_.size(); ++set) {
    if ((change.ended >> set & 1) != 0) change.orphans |= sets_[set].tiles;
  }
  change.orphans &= ~tiles;
  return change;
}

void WorkerSets::Apply(const Change& change, const TileSet& tiles, uint32_t hardware_queue) {
  for (uint32_t set = 0; set < sets_.size(); ++set) {
    if ((change.ended >> set & 1) != 0) sets_[set] = WorkerSet();
  }
  sets_[change.number].tiles = tiles;
  sets_[change.number].hardware_queue = hardware_queue;
  sets_[change.number].generation = change.generation;
  ++lives_[change.number];
  Touch(change.number);
}

}  // namespace ttfd
