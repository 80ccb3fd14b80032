// A session and its client in words.
#include "daemon/hang/session_client.h"

#include <fmt/format.h>

namespace ttfd {

std::string SessionClient::Text() const {
  const std::string process = pid == 0 ? "" : fmt::format(", pid {}", pid);
  return fmt::format("session {} (client '{}', user {}{})", session, name, user, process);
}

}  // namespace ttfd
