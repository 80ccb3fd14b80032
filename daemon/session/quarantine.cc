// Counting hangs.
#include "daemon/session/quarantine.h"

#include <fmt/format.h>

namespace ttfd {

bool Quarantine::AddHang(const std::string& report, const HangPolicy& policy, TimePoint now) {
  const Duration window = std::chrono::milliseconds(policy.suspend_window_ms);
  ++hangs_;
  recent_.emplace_back(now, report);
  // No more of them than it takes to begin a quarantine.
  while (recent_.size() > policy.suspend_hangs ||
         (!recent_.empty() && now - recent_.front().first > window)) {
    recent_.pop_front();
  }
  const bool begins = policy.suspend_hangs != 0 && recent_.size() >= policy.suspend_hangs;
  if (!begins || active()) return false;
  std::string reports;
  for (const auto& [when, id] : recent_) reports += (reports.empty() ? "" : ", ") + id;
  reason_ = fmt::format(
      "the session is quarantined for {} s: {} of its launches hung or faulted within that time{}; "
      "an administrator can release it earlier",
      policy.suspend_window_ms / 1000, recent_.size(),
      reports.find_first_not_of(", ") == reports.npos ? "" : fmt::format(" ({})", reports));
  until_ = now + window;
  return true;
}

void Quarantine::End() {
  recent_.clear();
  reason_.clear();
  until_ = TimePoint::max();
}

}  // namespace ttfd
