// Why no daemon can be reached at an address.
#pragma once

#include <string>

#include "ttfd/status.h"

namespace ttfd::client {

// The status of a call that could not be made at `address`, a gRPC address; `detail` is gRPC's own message. For a unix
// socket this calls connect(2) once more to learn the cause. Every status has reason UNREACHABLE:
//   PERMISSION_DENIED, not retryable: this process may not open the socket or enter a folder above it; the message
//   names the group that may.
//   UNAVAILABLE, retryable: there is no socket, nothing listens on it, or any other cause.
// Reads the user database when permission is denied; never blocks on the socket. Any thread.
Status ConnectFailure(const std::string& address, const std::string& detail);

}  // namespace ttfd::client
