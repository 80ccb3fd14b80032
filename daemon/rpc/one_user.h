// Without an IOMMU a kernel can read and write all memory of the host: who may submit is as good as root. So sessions
// are those of one user alone, unless the administrator allows more (ttfd.toml: device.share_without_iommu).
#pragma once

#include <optional>

#include "daemon/session/service.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

// Thread-safe.
class OneUser {
 public:
  // Takes the first user, other than root, for the rest of this daemon's life; root may always submit.
  // PERMISSION_DENIED: the user is another one.
  Status Admit(const PeerIdentity& peer) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Mutex mu_;
  std::optional<PeerIdentity> user_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
