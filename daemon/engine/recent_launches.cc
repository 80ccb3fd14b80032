// The launches that ended last.
#include "daemon/engine/recent_launches.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ttfd {

void RecentLaunches::Add(uint32_t hardware_queue, const Work& work) {
  if (!launches_.empty()) {
    Launch& last = launches_.back();
    if (last.session == work.flow && last.queue == work.queue && last.value == work.value) {
      if (*last.programs == *work.programs) return;
      auto all = std::make_shared<std::vector<uint32_t>>();
      std::set_union(work.programs->begin(), work.programs->end(), last.programs->begin(),
                     last.programs->end(), std::back_inserter(*all));
      last.programs = std::move(all);
      return;
    }
  }
  std::erase_if(launches_, [&work](const Launch& known) {
    return known.session == work.flow && *known.programs == *work.programs;
  });
  if (launches_.size() == kMostLaunches) launches_.pop_front();
  launches_.push_back({hardware_queue, work.flow, work.queue, work.value, work.programs});
}

}  // namespace ttfd
