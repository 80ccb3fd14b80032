// The daemon's own accept loop on a unix socket: made here, or inherited from systemd.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

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

  // `accepted` is called on the accept thread with every new connection (non-blocking, close on
  // exec).
  Status Start(std::function<void(UniqueFd connection)> accepted);
  void Stop();

 private:
  explicit UnixListener(std::unique_ptr<UnixSocket> made) : made_(std::move(made)) {}
  explicit UnixListener(UniqueFd adopted) : adopted_(std::move(adopted)) {}
  int listening() const { return made_ != nullptr ? made_->fd() : adopted_.get(); }
  void Loop(const std::function<void(UniqueFd)>& accepted);

  // Constant after construction.
  const std::unique_ptr<UnixSocket> made_;  // or:
  const UniqueFd adopted_;

  UniqueFd stop_;  // an eventfd, written by Stop
  std::thread thread_;
};

}  // namespace ttfd
