// Where a client connects, and under which lease.
#pragma once

#include <string>

#include "ttfd/session.h"
#include "ttfd/types.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

// What ConnectOptions::address means, as gRPC wants it: the default for an empty one, "unix:"
// before a path.
std::string ResolveAddress(const std::string& address);

// What is empty, from the environment.
TlsOptions ResolveTls(TlsOptions tls);

// Sets Hello.attach to what the options say. INVALID_ARGUMENT: that is not possible.
Status FillAttach(const ConnectOptions& options, v1::Hello* hello);

// A token as text, and back; nothing if it is no such text.
std::string TokenText(const std::string& token);

}  // namespace ttfd::client
