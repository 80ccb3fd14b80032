// A line, and the few at its head.
#include "daemon/session/upload_turns.h"

#include <algorithm>

namespace ttfd {

void UploadTurns::Expire(TimePoint now) {
  std::erase_if(held_, [now](const Turn& turn) { return turn.until <= now; });
}

bool UploadTurns::Take(uint64_t session, TimePoint now) {
  MutexLock lock(&mu_);
  Expire(now);
  const auto held = std::find_if(held_.begin(), held_.end(),
                                 [session](const Turn& turn) { return turn.session == session; });
  if (held != held_.end()) {
    if (!waiting_.empty()) return false;
    held->until = now + options_.longest;
    return true;
  }
  if (waiting_.empty() && held_.size() < options_.at_once) {
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

std::vector<uint64_t> UploadTurns::Next(TimePoint now, TimePoint* again) {
  MutexLock lock(&mu_);
  Expire(now);
  std::vector<uint64_t> come;
  while (!waiting_.empty() && held_.size() < options_.at_once) {
    come.push_back(waiting_.front());
    held_.push_back({waiting_.front(), now + options_.longest});
    waiting_.pop_front();
  }
  *again = TimePoint::max();
  for (const Turn& turn : held_) {
    if (!waiting_.empty()) *again = std::min(*again, turn.until);
  }
  return come;
}

}  // namespace ttfd
