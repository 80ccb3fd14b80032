// Binding and tuning TCP sockets.
#include "daemon/rpc/tcp_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <charconv>

namespace ttfd {
namespace {

constexpr int kBacklog = 512;

// A machine that lost its power says nothing: after a minute of silence (30 s, then three questions 10 s apart) its
// sessions end.
constexpr int kIdleSeconds = 30;
constexpr int kProbeSeconds = 10;
constexpr int kProbes = 3;
constexpr int kUnacknowledgedMs = 60'000;

Status SetOption(int fd, int level, int name, int value) {
  if (setsockopt(fd, level, name, &value, sizeof(value)) != 0) return SystemError("setsockopt");
  return OkStatus();
}

// Best effort: a connection that cannot be tuned works, too.
void Tune(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1).IgnoreError();
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1).IgnoreError();
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds).IgnoreError();
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds).IgnoreError();
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes).IgnoreError();
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs).IgnoreError();
}

StatusOr<uint16_t> BoundPort(int fd) {
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return SystemError("getsockname");
  }
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

StatusOr<std::pair<sockaddr_storage, socklen_t>> ParseTcpAddress(const std::string& address) {
  const Status wrong = InvalidArgument(
      "'{}' is no address to listen on: 127.0.0.1:7443 and [::1]:7443 are, names are not", address);
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return wrong;
  uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [parsed, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || parsed != end) return wrong;
  std::string host = address.substr(0, colon);
  sockaddr_storage storage{};
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1) return wrong;
    return std::pair(storage, static_cast<socklen_t>(sizeof(sockaddr_in6)));
  }
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) != 1) return wrong;
  return std::pair(storage, static_cast<socklen_t>(sizeof(sockaddr_in)));
}

StatusOr<std::unique_ptr<TcpListener>> TcpListener::Create(const std::string& address) {
  ASSIGN_OR_RETURN(const auto parsed, ParseTcpAddress(address));
  const auto& [storage, length] = parsed;
  UniqueFd fd(socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return SystemError("cannot make a socket for " + address);
  // A restart must not wait for connections of the daemon before it to time out.
  RETURN_IF_ERROR(SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1));
  if (storage.ss_family == AF_INET6) {
    // IPv4 is asked for by an IPv4 address, not by the way.
    RETURN_IF_ERROR(SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1));
  }
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), length) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return SystemError("cannot listen on " + address);
  }
  ASSIGN_OR_RETURN(const uint16_t port, BoundPort(fd.get()));
  std::string where = address.substr(0, address.rfind(':') + 1) + std::to_string(port);
  return std::unique_ptr<TcpListener>(new TcpListener(std::move(fd), std::move(where)));
}

Status TcpListener::Start(std::function<void(UniqueFd)> accepted) {
  return loop_.Start(listening_.get(), [accepted = std::move(accepted)](UniqueFd connection) {
    Tune(connection.get());
    accepted(std::move(connection));
  });
}

}  // namespace ttfd
