// The daemon's accept loop on a TCP port. Who is at the other end is for TLS to say.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "daemon/rpc/accept_loop.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

// "127.0.0.1:7443" or "[::1]:7443"; port 0: any. Names are not looked up: a daemon that listens on whatever a name
// server says is open to whoever that says.
StatusOr<std::pair<sockaddr_storage, socklen_t>> ParseTcpAddress(const std::string& address);

class TcpListener {
 public:
  // Connections queue up from here on and are accepted after Start.
  static StatusOr<std::unique_ptr<TcpListener>> Create(const std::string& address);
  ~TcpListener() { loop_.Stop(); }

  // Where it listens, with the port that was taken.
  const std::string& address() const { return address_; }

  // As AcceptLoop::Start. The connections find out by themselves that the other end has vanished.
  Status Start(std::function<void(UniqueFd connection)> accepted);

 private:
  TcpListener(UniqueFd listening, std::string address)
      : listening_(std::move(listening)), address_(std::move(address)) {}

  const UniqueFd listening_;
  const std::string address_;
  AcceptLoop loop_;
};

}  // namespace ttfd
