// The users who have sessions: what each uses, and whether there may be more than one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/api/session_port.h"
#include "daemon/session/usage.h"
#include "runtime/base/status.h"

namespace ttfd {

// Not thread-safe.
class UserTable {
 public:
  // `one_user`: without an IOMMU a kernel can read and write all memory of the host, so who may submit is as good as
  // root. Sessions are then those of one user and of root, unless the administrator allows more (ttfd.toml:
  // device.share_without_iommu).
  explicit UserTable(bool one_user) : limited_(one_user) {}

  // PERMISSION_DENIED: this user may not have sessions, because another one has.
  Status Check(const PeerIdentity& peer) const;
  // A session of this user was opened: the first user besides root is the one for the rest of this daemon's life.
  // `name`: for messages. REQUIRES Check.
  void Admit(const PeerIdentity& peer, const std::string& name);

  // Counts of all sessions of the user together. The table does not keep it.
  std::shared_ptr<UserUse> UseOf(uint32_t uid);
  // Does a user have some of it?
  bool AnyUses(Resource resource) const;

 private:
  const bool limited_;
  std::optional<PeerIdentity> one_;
  std::string one_name_;
  std::map<uint32_t, std::weak_ptr<UserUse>> uses_;
};

}  // namespace ttfd
