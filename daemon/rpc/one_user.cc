// Compares users: by name of the certificate, else by uid.
#include "daemon/rpc/one_user.h"

namespace ttfd {

Status OneUser::Admit(const PeerIdentity& peer) {
  if (peer.certificate.empty() && peer.uid == 0) return OkStatus();
  MutexLock lock(&mu_);
  if (!user_) user_ = peer;
  if (user_->certificate == peer.certificate &&
      (!peer.certificate.empty() || user_->uid == peer.uid)) {
    return OkStatus();
  }
  return Error(StatusCode::kPermissionDenied,
               "the host has no IOMMU on for the card, so who submits can reach all memory of the "
               "host, and this daemon "
               "has served another user already: turn on the IOMMU, restart the daemon, or allow "
               "several users (ttfd.toml: device.share_without_iommu)");
}

}  // namespace ttfd
