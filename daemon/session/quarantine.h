// Hangs and faults of users' launches, and the quarantine of a user that follows too many of them within a while: on
// all its sessions, also later ones, everything is refused but reads, frees and barriers, until an administrator
// releases the user or as much time has passed again. Pure data: no thread, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/session/operation.h"
#include "runtime/base/clock.h"

namespace ttfd {

class Quarantine {
 public:
  struct Entry {
    ErrorReply error;  // of commands that are refused
    TimePoint until;
  };

  // A launch of the user hung or faulted, which a report describes. True: its quarantine begins with this one.
  bool AddHang(uint32_t uid, const std::string& report, const HangPolicy& policy, TimePoint now);
  // Ends the quarantine of the user, and resets its count of hangs.
  void End(uint32_t uid) { users_.erase(uid); }
  // Null: the user is not quarantined. Valid until the next call of AddHang or End.
  const Entry* Find(uint32_t uid, TimePoint now) const;
  // When the user's quarantine ends by itself; TimePoint::max() if there is none.
  TimePoint Until(uint32_t uid) const {
    const Entry* const active = Find(uid, TimePoint::min());
    return active == nullptr ? TimePoint::max() : active->until;
  }

 private:
  struct User {
    std::deque<std::pair<TimePoint, std::string>> hangs;  // that count: when, and which report
    std::optional<Entry> active;
  };
  std::map<uint32_t, User> users_;  // that had a hang within the window, or are quarantined
};

// Pass in a quarantine: they run nothing, and a client needs them to save what it has.
template <typename Variant>
bool PassesInQuarantine(const Variant& command) {
  return std::visit(
      []<typename Body>(const Body&) {
        return std::is_same_v<Body, BarrierRequest> || std::is_same_v<Body, ReadRequest> ||
               std::is_same_v<Body, FreeRequest> || std::is_same_v<Body, BarrierOperation> ||
               std::is_same_v<Body, ReadOperation> || std::is_same_v<Body, FreeOperation>;
      },
      command);
}

}  // namespace ttfd
