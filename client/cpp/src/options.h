// Where a client connects.
#pragma once

#include <string>

namespace ttfd::client {

// What ConnectOptions::address means, as gRPC wants it: the default for an empty one, "unix:"
// before a path.
std::string ResolveAddress(const std::string& address);

}  // namespace ttfd::client
