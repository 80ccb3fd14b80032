// Where a client connects.
#pragma once

#include <string>

#include "ttfd/types.h"

namespace ttfd::client {

// What ConnectOptions::address means, as gRPC wants it: the default for an empty one, "unix:"
// before a path.
std::string ResolveAddress(const std::string& address);

// What is empty, from the environment.
TlsOptions ResolveTls(TlsOptions tls);

}  // namespace ttfd::client
