// Asks the peer table, then the roles.
#include "daemon/rpc/callers.h"

#include <optional>
#include <utility>

namespace ttfd {

StatusOr<PeerIdentity> Callers::Identify(const grpc::ServerContextBase& context) {
  std::optional<PeerIdentity> peer = peers_.Find(context.peer());
  if (!peer) {
    return Error(StatusCode::kUnauthenticated, "this connection has no known user behind it");
  }
  return *std::move(peer);
}

StatusOr<PeerIdentity> Callers::Check(Role role, const grpc::ServerContextBase& context) {
  ASSIGN_OR_RETURN(PeerIdentity peer, Identify(context));
  RETURN_IF_ERROR(roles_.Check(role, peer));
  return peer;
}

}  // namespace ttfd
