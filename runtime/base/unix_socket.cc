// Making and removing the file of a unix socket.
#include "runtime/base/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace ttfd {
namespace {

StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return InvalidArgument("socket path '{}' has {} characters, allowed are 1 to {}", path,
                           path.size(), sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Removes a socket file that nobody listens on. Anything else in the way is an error.
Status RemoveStaleSocket(const std::string& path, const sockaddr_un& address,
                         std::string_view way_out) {
  struct stat about {};
  if (lstat(path.c_str(), &about) != 0) return OkStatus();
  if (!S_ISSOCK(about.st_mode)) {
    return Error(StatusCode::kFailedPrecondition, "{} exists and is not a socket", path);
  }
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.valid()) return SystemError("socket");
  const int result =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (result == 0 || errno == EAGAIN) {
    return Error(StatusCode::kFailedPrecondition,
                 "another process listens on {}: stop it, or choose {}", path, way_out);
  }
  if (errno != ECONNREFUSED) return SystemError("cannot probe " + path);
  if (unlink(path.c_str()) != 0) return SystemError("cannot remove the old socket " + path);
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<UnixSocket>> UnixSocket::Bind(const std::string& path,
                                                       std::string_view way_out) {
  ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return Error(StatusCode::kFailedPrecondition,
                 "folder {} of the socket does not exist (systemd makes /run/ttfd for the service; "
                 "else choose {})",
                 folder.string(), way_out);
  }
  RETURN_IF_ERROR(RemoveStaleSocket(path, address, way_out));
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return SystemError("socket");
  // The file gets the mode of the socket's inode: nobody else can connect before owner and mode are
  // as asked.
  if (fchmod(fd.get(), 0600) != 0) return SystemError("fchmod of the socket");
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return SystemError("cannot listen on " + path);
  }
  return std::unique_ptr<UnixSocket>(new UnixSocket(std::move(fd), path));
}

UnixSocket::UnixSocket(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {
  struct stat about {};
  if (lstat(path_.c_str(), &about) == 0) inode_ = about.st_ino;
}

UnixSocket::~UnixSocket() {
  struct stat about {};
  // Not if another process has put its own socket there since.
  if (lstat(path_.c_str(), &about) == 0 && about.st_ino == inode_) unlink(path_.c_str());
}

}  // namespace ttfd
