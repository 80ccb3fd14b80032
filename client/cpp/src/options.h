// ConnectOptions as an address, certificates and a Hello.
#pragma once

#include <cstdint>
#include <string>

#include "ttfd/session.h"
#include "ttfd/types.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

inline constexpr uint32_t kRevision = 1;  // of the API that this library speaks

// ConnectOptions::address as gRPC expects it: the default for an empty one, "unix:" before a path.
std::string ResolveAddress(const std::string& address);

// Empty fields from the environment.
TlsOptions ResolveTls(TlsOptions tls);

// The Hello of a new session. INVALID_ARGUMENT: the options contradict each other.
Status FillHello(const ConnectOptions& options, v1::Hello* hello);

// A lease token in hexadecimal digits.
std::string TokenText(const std::string& token);

}  // namespace ttfd::client
