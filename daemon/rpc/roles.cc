// Group membership, or the name of a certificate, decides the role.
#include "daemon/rpc/roles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "daemon/rpc/group_id.h"

namespace ttfd {
namespace {

std::vector<uint32_t> GroupIds(const std::vector<std::string>& names,
                               std::vector<std::string>* unknown) {
  std::vector<uint32_t> ids;
  for (const std::string& name : names) {
    if (const std::optional<uint32_t> id = GroupId(name)) {
      ids.push_back(*id);
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

bool IsListed(const std::string& name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&name](const std::string& listed) {
    return listed == "*" || listed == name;
  });
}

const char* NameOf(Role role) {
  switch (role) {
    case Role::kSubmit:
      return "submit";
    case Role::kObserve:
      return "observe";
    case Role::kAdmin:
      return "admin";
  }
  return "admin";
}

template <typename T>
const T& Of(Role role, const T& submit, const T& observe, const T& admin) {
  return role == Role::kSubmit ? submit : role == Role::kObserve ? observe : admin;
}

}  // namespace

Roles Roles::Create(const RoleOptions& options, uint32_t own_uid,
                    std::vector<std::string>* unknown) {
  Roles roles;
  roles.own_uid_ = own_uid;
  roles.names_ = options;
  roles.submit_ = GroupIds(options.submit_groups, unknown);
  roles.observe_ = GroupIds(options.observe_groups, unknown);
  roles.admin_ = GroupIds(options.admin_groups, unknown);
  return roles;
}

Status Roles::CheckCertificate(Role role, const std::string& name) const {
  const auto& listed =
      Of(role, names_.submit_certificates, names_.observe_certificates, names_.admin_certificates);
  if (IsListed(name, names_.admin_certificates) || IsListed(name, listed)) return OkStatus();
  return Error(StatusCode::kPermissionDenied,
               "this call needs role {}, which certificate '{}' does not have; these have it: {} "
               "(ttfd.toml: [roles])",
               NameOf(role), name,
               listed.empty() ? "none" : fmt::format("{}", fmt::join(listed, ", ")));
}

Status Roles::Check(Role role, const PeerIdentity& peer) const {
  if (!peer.certificate.empty()) return CheckCertificate(role, peer.certificate);
  if (peer.uid == 0 || peer.uid == own_uid_ || IsMember(peer, admin_)) return OkStatus();
  // A list of groups that this machine does not have lets nobody in; an empty one does not ask.
  if (role == Role::kSubmit && names_.submit_groups.empty()) return OkStatus();
  if (IsMember(peer, Of(role, submit_, observe_, admin_))) return OkStatus();
  std::vector<std::string> groups =
      Of(role, names_.submit_groups, names_.observe_groups, names_.admin_groups);
  if (role != Role::kAdmin) {
    groups.insert(groups.end(), names_.admin_groups.begin(), names_.admin_groups.end());
  }
  return Error(StatusCode::kPermissionDenied,
               "this call needs role {}, which user {} does not have; root, the daemon's user{}{} "
               "have it (ttfd.toml: [roles])",
               NameOf(role), peer.uid, groups.empty() ? "" : " and members of group ",
               fmt::join(groups, " or "));
}

}  // namespace ttfd
