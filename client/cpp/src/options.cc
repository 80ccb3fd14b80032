// Where a client connects: the only place of the library that looks at the environment.
#include "client/cpp/src/options.h"

#include <cstdlib>

#include "ttfd/session.h"

namespace ttfd::client {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string DefaultAddress() {
  const std::string address = Variable("TTFD_ADDRESS");
  return !address.empty() ? address : "unix:/run/ttfd/ttfd.sock";
}

TlsOptions ResolveTls(TlsOptions tls) {
  const auto look = [](std::string* option, const char* name) {
    if (option->empty()) *option = Variable(name);
  };
  look(&tls.ca, "TTFD_TLS_CA");
  look(&tls.certificate, "TTFD_TLS_CERTIFICATE");
  look(&tls.key, "TTFD_TLS_KEY");
  look(&tls.server_name, "TTFD_TLS_SERVER_NAME");
  return tls;
}

std::string ResolveAddress(const std::string& address) {
  const std::string chosen = address.empty() ? DefaultAddress() : address;
  return chosen.starts_with('/') ? "unix:" + chosen : chosen;
}

}  // namespace ttfd::client
