// Channels and statuses of gRPC, for the two files that include it.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// A channel with a connection of its own: the daemon binds the caller's identity to the connection,
// and one session's bulk data must not delay another's commands. An address that is not a unix socket
// is TCP with certificates; if these cannot be read, `problem` is set and calls on the channel fail.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const TlsOptions& tls,
                                           Status* problem);

// The status of a finished call, with the details of the trailer grpc-status-details-bin. UNREACHABLE,
// naming `address`: no daemon can be reached there (unix_socket.h), or the connection was lost.
Status FromGrpc(const grpc::Status& status, const std::string& address);

}  // namespace ttfd::client
