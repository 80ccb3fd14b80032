// Who may administer: decided by the user and the groups behind the connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/session/service.h"
#include "runtime/base/status.h"

namespace ttfd {

// "observe" reads the daemon's state, "admin" changes it (and may observe). Root and the daemon's
// own user have both.
struct RoleOptions {
  std::vector<std::string> observe_groups;
  std::vector<std::string> admin_groups;
};

enum class Role { kObserve, kAdmin };

class Roles {
 public:
  // Looks the groups up. One that this machine does not have grants nothing and is put into
  // `unknown`: a daemon must start without it.
  static Roles Create(const RoleOptions& options, uint32_t own_uid,
                      std::vector<std::string>* unknown);

  // PERMISSION_DENIED naming the groups that may.
  Status Check(Role role, const PeerIdentity& peer) const;

 private:
  uint32_t own_uid_ = 0;
  RoleOptions names_;
  std::vector<uint32_t> observe_;  // group ids
  std::vector<uint32_t> admin_;
};

}  // namespace ttfd
