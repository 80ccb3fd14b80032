// Making, adopting and accepting on the unix socket.
#include "daemon/rpc/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "daemon/rpc/group_id.h"

namespace ttfd {
namespace {

Status SetOwnerAndMode(const UnixListener::Options& options) {
  if (!options.group.empty()) {
    const std::optional<uint32_t> gid = GroupId(options.group);
    if (!gid) {
      return Error(StatusCode::kNotFound, "group '{}' of the socket does not exist", options.group);
    }
    if (chown(options.path.c_str(), static_cast<uid_t>(-1), *gid) != 0) {
      return SystemError("cannot give " + options.path + " to group " + options.group);
    }
  }
  if (chmod(options.path.c_str(), options.mode) != 0) {
    return SystemError("cannot set the mode of " + options.path);
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<UnixListener>> UnixListener::Create(const Options& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<UnixSocket> socket,
                   UnixSocket::Bind(options.path, "another --socket"));
  RETURN_IF_ERROR(SetOwnerAndMode(options));
  if (listen(socket->fd(), options.backlog) != 0) return SystemError("listen");
  return std::unique_ptr<UnixListener>(new UnixListener(std::move(socket)));
}

StatusOr<std::unique_ptr<UnixListener>> UnixListener::Adopt(UniqueFd listening) {
  int accepting = 0;
  int domain = 0;
  socklen_t length = sizeof(int);
  const int fd = listening.get();
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &length) != 0 ||
      getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || accepting == 0 ||
      domain != AF_UNIX) {
    return Error(StatusCode::kFailedPrecondition,
                 "inherited descriptor {} is not a listening unix socket", fd);
  }
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return SystemError("fcntl");
  return std::unique_ptr<UnixListener>(new UnixListener(std::move(listening)));
}

UnixListener::~UnixListener() { Stop(); }

Status UnixListener::Start(std::function<void(UniqueFd)> accepted) {
  return loop_.Start(listening(), std::move(accepted));
}

}  // namespace ttfd
