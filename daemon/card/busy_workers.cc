// Independent kernels on the card, and what may run next to them.
#include "daemon/card/busy_workers.h"

#include <algorithm>
#include <numeric>

namespace ttfd {

bool ShareWorkers(const Slice& a, const Slice& b) {
  const TileSet& these = a.route.workers;  // none: all
  const TileSet& those = b.route.workers;
  return these.none() || those.none() || (these & those).any();
}

bool MayOverlap(const Slice& now, const Slice& next) {
  if (!ShareWorkers(now, next)) return true;
  return now.share().session == next.share().session &&
         std::holds_alternative<LaunchCommand>(next.command);
}

std::vector<BusyWorkers::Set>::iterator BusyWorkers::SetOf(const Slice& slice) {
  return std::find_if(sets_.begin(), sets_.end(), [&slice](const Set& set) {
    return set.workers == slice.route.workers && set.session == slice.share().session;
  });
}

void BusyWorkers::Add(const Slice& slice) {
  auto set = SetOf(slice);
  if (set == sets_.end())
    set = sets_.insert(set, {slice.route.workers, slice.share().session, {}, 0});
  set->cost += slice.times.cost;
  ++set->slices;
}

void BusyWorkers::Remove(const Slice& slice) {
  const auto set = SetOf(slice);
  if (set == sets_.end()) return;
  set->cost -= slice.times.cost;
  if (--set->slices == 0) sets_.erase(set);
}

size_t BusyWorkers::slices() const {
  return std::accumulate(sets_.begin(), sets_.end(), size_t{0},
                         [](size_t sum, const Set& set) { return sum + set.slices; });
}

bool BusyWorkers::AdmitWith(const Slice& slice, const TileSet& workers) const {
  return std::none_of(sets_.begin(), sets_.end(), [&](const Set& set) {
    if (workers.any() && (workers & set.workers).none()) return false;
    return !slice.runs_kernels() || slice.share().session != set.session || set.cost >= window_;
  });
}

}  // namespace ttfd
