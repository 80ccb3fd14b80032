// The table of unicast targets that dispatch_s keeps.
#include "runtime/command/go_table.h"

#include <algorithm>
#include <array>

#include "runtime/command/program_layout.h"

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

GoPlan PlanGo(GoTable& table, const Program& program, const CardGeometry& card) {
  if (program.workers.size() > kMaxUnicastGoTargets) return GoPlan();
  std::array<uint32_t, kMaxUnicastGoTargets> worker_xy;
  for (size_t i = 0; i < program.workers.size(); ++i) {
    worker_xy[i] = card.WorkerXy(program.workers[i]);
  }
  return table.Plan(std::span(worker_xy).first(program.workers.size()));
}

}  // namespace ttfd
