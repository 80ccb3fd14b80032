// Counting hangs.
#include "daemon/session/quarantine.h"

#include <fmt/format.h>

namespace ttfd {

bool Quarantine::AddHang(uint32_t uid, const std::string& report, const HangPolicy& policy,
                         TimePoint now) {
  const Duration window = std::chrono::milliseconds(policy.quarantine_window_ms);
  const auto is_over = [&](const User& user) {
    return user.active ? now >= user.active->until : now - user.hangs.back().first > window;
  };
  std::erase_if(users_, [&](const auto& entry) { return is_over(entry.second); });
  if (policy.quarantine_hangs == 0) return false;
  User& user = users_[uid];
  user.hangs.emplace_back(now, report);
  // No more of them than it takes to begin a quarantine.
  while (user.hangs.size() > policy.quarantine_hangs || now - user.hangs.front().first > window) {
    user.hangs.pop_front();
  }
  if (user.hangs.size() < policy.quarantine_hangs || user.active) return false;
  std::string reports;
  for (const auto& [when, id] : user.hangs) {
    if (!id.empty()) reports += (reports.empty() ? "" : ", ") + id;
  }
  user.active = {MakeError(StatusCode::kFailedPrecondition, reason::kQuarantined, "",
                           "the user is quarantined for {} s: {} of its launches hung or faulted "
                           "within that time{}; reads and frees pass; an administrator can release "
                           "it earlier",
                           policy.quarantine_window_ms / 1000, user.hangs.size(),
                           reports.empty() ? "" : fmt::format(" ({})", reports)),
                 now + window};
  return true;
}

const Quarantine::Entry* Quarantine::Find(uint32_t uid, TimePoint now) const {
  const auto user = users_.find(uid);
  if (user == users_.end() || !user->second.active || now >= user->second.active->until) {
    return nullptr;
  }
  return &*user->second.active;
}

}  // namespace ttfd
