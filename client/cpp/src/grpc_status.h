// How gRPC says things, for the two files that include it: channels and statuses.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// A channel with a connection of its own: the daemon binds the caller's identity to the connection,
// and one session's bulk data must not delay another's commands.
// An address that is no unix socket's is spoken to with certificates. Where these cannot be read `problem` says so, and
// calls on the channel fail.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const TlsOptions& tls,
                                           Status* problem);

// The status of a finished call, with what the daemon put into the trailer "ttfd-error-bin".
// `address` is named when nobody answers there.
Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context,
                const std::string& address);

}  // namespace ttfd::client
