// Who makes a call, and whether they may.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

#include "daemon/rpc/certificate_numbers.h"
#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "daemon/session/service.h"
#include "runtime/base/status.h"

namespace ttfd {

// Thread-safe.
class Callers {
 public:
  // Both outlive it.
  Callers(PeerTable& peers, const Roles& roles)
      : peers_(peers), roles_(roles), numbers_([&peers] { return peers.Certificates(); }) {}

  // By the connection: its SO_PEERCRED, or its client certificate, named by the subject's common name or, without
  // one, by the first alternative name. UNAUTHENTICATED where nobody is known at the other end.
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
