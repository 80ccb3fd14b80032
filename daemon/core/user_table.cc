// Compares users by name of the certificate, else by uid.
#include "daemon/core/user_table.h"

#include <algorithm>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "runtime/base/log.h"
#include "runtime/base/utf8.h"

namespace ttfd {

void UserTable::Admit(const PeerIdentity& peer, const std::string& name) {
  const bool root = peer.certificate.empty() && peer.uid == 0;
  if (!limited_ || root || one_.has_value()) return;
  one_ = peer;
  one_name_ = ValidUtf8(name);
  LogInfo("the IOMMU is not on: until the daemon ends sessions are those of user {} and of root",
          one_name_);
}

Status UserTable::Check(const PeerIdentity& peer) const {
  const bool unix_user = peer.certificate.empty();
  if (!one_.has_value() || (unix_user && peer.uid == 0)) return OkStatus();
  if (one_->certificate == peer.certificate && (!unix_user || one_->uid == peer.uid)) {
    return OkStatus();
  }
  return WithReason(
      Error(
          StatusCode::kPermissionDenied,
          "the IOMMU is not on for the card, so who submits can reach all memory of the host, and "
          "this daemon serves user {} already: turn on the IOMMU, restart the daemon, or allow "
          "several users (ttfd.toml: device.share_without_iommu)",
          one_name_),
      reason::kPermissionDenied);
}

std::shared_ptr<UserUse> UserTable::UseOf(uint32_t uid) {
  std::erase_if(uses_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<UserUse>& known = uses_[uid];
  std::shared_ptr<UserUse> use = known.lock();
  if (use == nullptr) {
    use = std::make_shared<UserUse>();
    known = use;
  }
  return use;
}

bool UserTable::AnyUses(Resource resource) const {
  return std::any_of(uses_.begin(), uses_.end(), [resource](const auto& entry) {
    const std::shared_ptr<UserUse> use = entry.second.lock();
    return use != nullptr && use->used(resource) > 0;
  });
}

}  // namespace ttfd
