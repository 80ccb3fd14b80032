// The table of unicast targets that dispatch_s keeps.
#include "runtime/dispatch/go_table.h"

#include <algorithm>

namespace ttfd {

GoPlan GoTable::Plan(std::span<const uint32_t> worker_xy) {
  GoPlan plan;
  if (worker_xy.size() > kMaxUnicastGoTargets) return plan;
  plan.multicast = false;
  plan.count = static_cast<uint8_t>(worker_xy.size());
  auto found = std::search(words_.begin(), words_.end(), worker_xy.begin(), worker_xy.end());
  if (found == words_.end()) {
    if (words_.size() + worker_xy.size() > abi::kMaxGoNocWords) words_.clear();
    found = words_.insert(words_.end(), worker_xy.begin(), worker_xy.end());
    plan.new_table = words_;
  }
  plan.first = static_cast<uint8_t>(found - words_.begin());
  return plan;
}

}  // namespace ttfd
