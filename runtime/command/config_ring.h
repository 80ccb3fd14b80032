// Where the configuration of each launch lies in the workers' config ring. The same place on every
// tile, so one allocation a launch. Pure data structure.
#pragma once

#include <cstdint>
#include <deque>

namespace ttfd {

class ConfigRing {
 public:
  ConfigRing(uint32_t address, uint32_t bytes) : address_(address), bytes_(bytes) {}

  void Clear() {
    in_use_.clear();
    position_ = 0;
  }

  struct Block {
    uint32_t address = 0;
    uint64_t wait_workers = 0;  // worker count that must be reached before the block is written
  };
  // A block of `bytes`, a multiple of 16, at most the ring's size. `waited`: the count already waited for.
  Block Take(uint32_t bytes, uint64_t waited = 0);
  // The block taken last is in use until the workers' count is `workers`.
  void Used(uint64_t workers) {
    if (!in_use_.empty()) in_use_.back().busy_workers = workers;
  }

 private:
  struct Use {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint64_t busy_workers = 0;
  };
  uint32_t address_;
  uint32_t bytes_;
  uint32_t position_ = 0;
  std::deque<Use> in_use_;  // oldest first; no later block overlaps it, and it was not waited for
};

}  // namespace ttfd
