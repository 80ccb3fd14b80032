// Where the configuration of each launch lies in the workers' config ring.
#include "runtime/command/config_ring.h"

#include <algorithm>

namespace ttfd {

ConfigRing::Block ConfigRing::Take(uint32_t bytes, uint64_t waited) {
  Block block;
  while (!in_use_.empty() && in_use_.front().busy_workers != 0 &&
         in_use_.front().busy_workers <= waited) {
    in_use_.pop_front();
  }
  const uint32_t begin = position_ + bytes > bytes_ ? 0 : position_;
  const uint32_t end = begin + bytes;
  // Launches end in order: waiting for the newest that overlaps frees all before it.
  size_t freed = 0;
  for (size_t i = 0; i < in_use_.size(); ++i) {
    if (in_use_[i].begin < end && begin < in_use_[i].end) freed = i + 1;
  }
  for (; freed > 0; --freed) {
    block.wait_workers = std::max(block.wait_workers, in_use_.front().busy_workers);
    in_use_.pop_front();
  }
  block.address = address_ + begin;
  position_ = end;
  in_use_.push_back({begin, end, 0});
  return block;
}

}  // namespace ttfd
