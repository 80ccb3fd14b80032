// The daemon's own accept loop on a unix socket: made here, or inherited from systemd.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "daemon/rpc/accept_loop.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"
#include "runtime/base/unix_socket.h"

namespace ttfd {

class UnixListener {
 public:
  struct Options {
    std::string path;
    uint32_t mode = 0660;
    std::string group;  // owner of the socket file; empty: this process's own
    int backlog = 512;
  };

  // Makes the socket. A socket file that nobody listens on is replaced; one with a listener, and
  // any other file, is refused. Connections queue up from here on and are accepted after Start.
  static StatusOr<std::unique_ptr<UnixListener>> Create(const Options& options);
  // Takes over a listening socket (socket activation). Its file stays when the listener goes.
  static StatusOr<std::unique_ptr<UnixListener>> Adopt(UniqueFd listening);

  ~UnixListener();  // stops, and removes the socket file it made

  // As AcceptLoop::Start.
  Status Start(std::function<void(UniqueFd connection)> accepted);
  void Stop() { loop_.Stop(); }

 private:
  explicit UnixListener(std::unique_ptr<UnixSocket> made) : made_(std::move(made)) {}
  explicit UnixListener(UniqueFd adopted) : adopted_(std::move(adopted)) {}
  int listening() const { return made_ != nullptr ? made_->fd() : adopted_.get(); }

  // Constant after construction.
  const std::unique_ptr<UnixSocket> made_;  // or:
  const UniqueFd adopted_;

  AcceptLoop loop_;
};

}  // namespace ttfd
