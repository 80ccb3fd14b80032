// Identifies the caller of a call, and checks its role.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

#include "daemon/api/session_port.h"
#include "daemon/rpc/certificate_numbers.h"
#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "runtime/base/status.h"

namespace ttfd {

// Thread-safe.
class Callers {
 public:
  // Both outlive it.
  Callers(PeerTable& peers, const Roles& roles)
      : peers_(peers), roles_(roles), numbers_([&peers] { return peers.Certificates(); }) {}

  // By the connection: its SO_PEERCRED, or its client certificate. The name of a certificate is its first URI, else its
  // first DNS name, else its first alternative name of another kind; the subject's common name counts only if there is
  // no alternative name. UNAUTHENTICATED where the other end is unknown.
  StatusOr<PeerIdentity> Identify(const grpc::ServerContextBase& context);
  // The same, and PERMISSION_DENIED without the role.
  StatusOr<PeerIdentity> Check(Role role, const grpc::ServerContextBase& context);
  Status CheckRole(Role role, const PeerIdentity& peer) const { return roles_.Check(role, peer); }
  // Adds what there may be of connections, and is.
  void DescribeConnections(LimitsReply* reply) { peers_.Describe(reply); }

 private:
  StatusOr<PeerIdentity> IdentifyTls(const grpc::ServerContextBase& context,
                                     const std::string& peer);

  PeerTable& peers_;
  const Roles& roles_;
  CertificateNumbers numbers_;
};

}  // namespace ttfd
