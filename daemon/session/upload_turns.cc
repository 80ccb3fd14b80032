// A line, and the few at its head.
#include "daemon/session/upload_turns.h"

#include <algorithm>

namespace ttfd {

bool UploadTurns::Free(TimePoint now) const {
  const auto held = std::count_if(held_.begin(), held_.end(),
                                  [now](const Turn& turn) { return turn.until > now; });
  return static_cast<size_t>(held) < options_.at_once;
}

bool UploadTurns::Take(uint64_t session, TimePoint now) {
  MutexLock lock(&mu_);
  const auto held = std::find_if(held_.begin(), held_.end(),
                                 [session](const Turn& turn) { return turn.session == session; });
  if (held != held_.end()) {
    if (!waiting_.empty()) return false;
    held->until = now + options_.longest;
    return true;
  }
  if (waiting_.empty() && Free(now)) {
    held_.push_back({session, now + options_.longest});
    return true;
  }
  if (std::find(waiting_.begin(), waiting_.end(), session) == waiting_.end()) {
    waiting_.push_back(session);
  }
  return false;
}

bool UploadTurns::Release(uint64_t session) {
  MutexLock lock(&mu_);
  std::erase_if(held_, [session](const Turn& turn) { return turn.session == session; });
  std::erase(waiting_, session);
  return !waiting_.empty();
}

UploadTurns::Changes UploadTurns::Next(TimePoint now, TimePoint* again) {
  MutexLock lock(&mu_);
  Changes changes;
  for (const Turn& turn : held_) {
    if (turn.until <= now) changes.over.push_back(turn.session);
  }
  std::erase_if(held_, [now](const Turn& turn) { return turn.until <= now; });
  while (!waiting_.empty() && Free(now)) {
    changes.come.push_back(waiting_.front());
    held_.push_back({waiting_.front(), now + options_.longest});
    waiting_.pop_front();
  }
  *again = TimePoint::max();
  for (const Turn& turn : held_) *again = std::min(*again, turn.until);
  return changes;
}

}  // namespace ttfd
