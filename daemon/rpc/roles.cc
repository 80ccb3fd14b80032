// Group membership decides the role.
#include "daemon/rpc/roles.h"

#include <fmt/ranges.h>
#include <grp.h>

#include <algorithm>

namespace ttfd {
namespace {

std::vector<uint32_t> GroupIds(const std::vector<std::string>& names,
                               std::vector<std::string>* unknown) {
  std::vector<uint32_t> ids;
  for (const std::string& name : names) {
    std::vector<char> buffer(16384);
    group entry{};
    group* found = nullptr;
    getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) {
      ids.push_back(found->gr_gid);
    } else {
      unknown->push_back(name);
    }
  }
  return ids;
}

bool IsMember(const PeerIdentity& peer, const std::vector<uint32_t>& groups) {
  return std::any_of(groups.begin(), groups.end(), [&peer](uint32_t group) {
    return peer.gid == group ||
           std::find(peer.groups.begin(), peer.groups.end(), group) != peer.groups.end();
  });
}

}  // namespace

Roles Roles::Create(const RoleOptions& options, uint32_t own_uid,
                    std::vector<std::string>* unknown) {
  Roles roles;
  roles.own_uid_ = own_uid;
  roles.names_ = options;
  roles.observe_ = GroupIds(options.observe_groups, unknown);
  roles.admin_ = GroupIds(options.admin_groups, unknown);
  return roles;
}

Status Roles::Check(Role role, const PeerIdentity& peer) const {
  if (peer.uid == 0 || peer.uid == own_uid_ || IsMember(peer, admin_)) return OkStatus();
  if (role == Role::kObserve && IsMember(peer, observe_)) return OkStatus();
  return Error(
      StatusCode::kPermissionDenied,
      "user {} may not: this call needs role {}, which root, the daemon's user and group "
      "{} have (ttfd.toml: [roles])",
      peer.uid, role == Role::kAdmin ? "admin" : "observe",
      fmt::join(role == Role::kAdmin ? names_.admin_groups : names_.observe_groups, " or "));
}

}  // namespace ttfd
