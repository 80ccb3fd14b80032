// Who makes a call, and whether they may.
#pragma once

#include <grpcpp/server_context.h>

#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "daemon/session/service.h"
#include "runtime/base/status.h"

namespace ttfd {

// Thread-safe.
class Callers {
 public:
  // Both outlive it.
  Callers(PeerTable& peers, const Roles& roles) : peers_(peers), roles_(roles) {}

  // UNAUTHENTICATED where nobody is known at the other end of the call's connection.
  StatusOr<PeerIdentity> Identify(const grpc::ServerContextBase& context);
  // The same, and PERMISSION_DENIED without the role.
  StatusOr<PeerIdentity> Check(Role role, const grpc::ServerContextBase& context);
  Status CheckRole(Role role, const PeerIdentity& peer) const { return roles_.Check(role, peer); }

 private:
  PeerTable& peers_;
  const Roles& roles_;
};

}  // namespace ttfd
