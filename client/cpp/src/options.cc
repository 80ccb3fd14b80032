// Where a client connects: the only place of the library that looks at the environment.
#include "client/cpp/src/options.h"

#include <cstdlib>

#include "ttfd/session.h"

namespace ttfd::client {

std::string DefaultAddress() {
  const char* address = std::getenv("TTFD_ADDRESS");
  return address != nullptr && address[0] != '\0' ? address : "unix:/run/ttfd/ttfd.sock";
}

std::string ResolveAddress(const std::string& address) {
  const std::string chosen = address.empty() ? DefaultAddress() : address;
  return chosen.starts_with('/') ? "unix:" + chosen : chosen;
}

}  // namespace ttfd::client
