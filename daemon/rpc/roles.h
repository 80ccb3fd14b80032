// Permissions of callers: decided by the user and the groups behind a connection, or by its certificate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/api/session_port.h"
#include "runtime/base/status.h"

namespace ttfd {

// "submit" uses the card, "observe" reads the daemon's state, "admin" changes it and may do the others, too. Root and
// the daemon's own user may do everything.
struct RoleOptions {
  std::vector<std::string> submit_groups = {};  // none: whoever may open the socket
  std::vector<std::string> observe_groups = {};
  std::vector<std::string> admin_groups = {};
  // Names of client certificates; "*" is every one that the client CA has signed.
  std::vector<std::string> submit_certificates = {};
  std::vector<std::string> observe_certificates = {};
  std::vector<std::string> admin_certificates = {};
};

enum class Role { kSubmit, kObserve, kAdmin };

class Roles {
 public:
  // Looks the groups up. One that this machine does not have grants nothing and is put into
  // `unknown`: a daemon must start without it.
  static Roles Create(const RoleOptions& options, uint32_t own_uid,
                      std::vector<std::string>* unknown);

  // PERMISSION_DENIED naming the groups or certificates that may.
  Status Check(Role role, const PeerIdentity& peer) const;

 private:
  Status CheckCertificate(Role role, const std::string& name) const;

  uint32_t own_uid_ = 0;
  RoleOptions names_;
  std::vector<uint32_t> submit_;  // group ids
  std::vector<uint32_t> observe_;
  std::vector<uint32_t> admin_;
};

}  // namespace ttfd
