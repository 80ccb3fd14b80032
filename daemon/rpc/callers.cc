// Asks the connection, then the roles.
#include "daemon/rpc/callers.h"

#include <grpc/grpc_security_constants.h>

#include <optional>
#include <utility>

namespace ttfd {

namespace {

// The first property that the certificate has, in this order (RFC 9525): its alternative names, of which those that
// name a service or host come first, and the subject's common name only where it has none.
constexpr const char* kNameProperties[] = {
    GRPC_PEER_URI_PROPERTY_NAME,
    GRPC_PEER_DNS_PROPERTY_NAME,
    GRPC_X509_SAN_PROPERTY_NAME,
    GRPC_X509_CN_PROPERTY_NAME,
};

}  // namespace

StatusOr<PeerIdentity> Callers::IdentifyTls(const grpc::ServerContextBase& context,
                                            const std::string& peer) {
  const std::shared_ptr<const grpc::AuthContext> session = context.auth_context();
  for (const char* property : kNameProperties) {
    for (const grpc::string_ref& value : session->FindPropertyValues(property)) {
      const std::string name(value.data(), value.size());
      if (name.empty()) continue;
      ASSIGN_OR_RETURN(const uint32_t uid, numbers_.Of(name));
      return peers_.FindTcp(peer, name, uid);
    }
  }
  return Error(StatusCode::kUnauthenticated,
               "the client's certificate has neither an alternative name nor a common name");
}

StatusOr<PeerIdentity> Callers::Identify(const grpc::ServerContextBase& context) {
  const std::string name = context.peer();
  if (name.starts_with("ipv")) return IdentifyTls(context, name);
  std::optional<PeerIdentity> peer = peers_.Find(name);
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
