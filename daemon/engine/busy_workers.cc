// Kernels on workers of their own, and what may be given to the card beside them.
#include "daemon/engine/busy_workers.h"

#include <algorithm>
#include <numeric>

namespace ttfd {

std::vector<BusyWorkers::Set>::iterator BusyWorkers::SetOf(const Work& work) {
  return std::find_if(sets_.begin(), sets_.end(), [&work](const Set& set) {
    return set.workers == work.route.workers && set.flow == work.flow;
  });
}

void BusyWorkers::Add(const Work& work) {
  auto set = SetOf(work);
  if (set == sets_.end()) set = sets_.insert(set, {work.route.workers, work.flow, {}, 0});
  set->cost += work.cost;
  ++set->works;
}

void BusyWorkers::Remove(const Work& work) {
  const auto set = SetOf(work);
  if (set == sets_.end()) return;
  set->cost -= work.cost;
  if (--set->works == 0) sets_.erase(set);
}

size_t BusyWorkers::works() const {
  return std::accumulate(sets_.begin(), sets_.end(), size_t{0},
                         [](size_t sum, const Set& set) { return sum + set.works; });
}

bool BusyWorkers::AdmitBeside(const Work& work, const TileSet& workers) const {
  return std::none_of(sets_.begin(), sets_.end(), [&](const Set& set) {
    if (workers.any() && (workers & set.workers).none()) return false;
    return !work.runs_kernels() || work.flow != set.flow || set.cost >= window_;
  });
}

}  // namespace ttfd
