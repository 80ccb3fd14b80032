// The launches that ended last.
#include "daemon/card/recent_launches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/session/session_queue.h"

namespace ttfd {

void RecentLaunches::Add(uint32_t hardware_queue, const Slice& slice) {
  const uint64_t session = slice.share().session;
  if (sole_session_ == 0) sole_session_ = session;
  of_many_ |= session != sole_session_;
  if (!launches_.empty()) {
    Launch& last = launches_.back();
    if (last.session == slice.share().session && last.queue == slice.queue->id &&
        last.value == slice.value()) {
      if (*last.programs == *slice.programs) return;
      auto all = std::make_shared<std::vector<uint32_t>>();
      std::set_union(slice.programs->begin(), slice.programs->end(), last.programs->begin(),
                     last.programs->end(), std::back_inserter(*all));
      last.programs = std::move(all);
      return;
    }
  }
  std::erase_if(launches_, [&slice](const Launch& known) {
    return known.session == slice.share().session && *known.programs == *slice.programs;
  });
  if (launches_.size() == kMostLaunches) launches_.pop_front();
  launches_.push_back(
      {hardware_queue, slice.share().session, slice.queue->id, slice.value(), slice.programs});
}

}  // namespace ttfd
