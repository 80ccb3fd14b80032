// Which connect(2) fails, and which permission is missing.
#include "client/cpp/src/unix_socket.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace ttfd::client {
namespace {

constexpr size_t kNameBytes = 16384;  // of an entry of the user database
constexpr int kMaxGroups = 65536;     // as Linux allows

// The path of "unix:PATH" or "unix:///PATH"; none: the address is of another kind.
std::optional<std::string> PathOf(std::string_view address) {
  constexpr std::string_view kScheme = "unix:";
  if (!address.starts_with(kScheme)) {
    return std::nullopt;
  }
  address.remove_prefix(kScheme.size());
  if (address.starts_with("//")) {
    address.remove_prefix(2);
  }
  return std::string(address);
}

// The errno of connect(2), or 0 if a process listens there.
int ConnectError(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) {
    return ENAMETOOLONG;
  }
  std::copy(path.begin(), path.end(), name.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return errno;
  }
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  const int error = connected || errno == EAGAIN ? 0 : errno;
  close(fd);
  return error;
}

// Empty: the number has no name.
std::string GroupName(gid_t gid) {
  std::vector<char> buffer(kNameBytes);
  group entry = {};
  group* found = nullptr;
  getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? entry.gr_name : "";
}

std::string UserName(uid_t uid, gid_t* primary) {
  std::vector<char> buffer(kNameBytes);
  passwd entry = {};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    return "";
  }
  *primary = entry.pw_gid;
  return entry.pw_name;
}

bool ProcessIsIn(gid_t gid) {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
  getgroups(static_cast<int>(groups.size()), groups.data());
  return getegid() == gid || std::find(groups.begin(), groups.end(), gid) != groups.end();
}

bool UserIsIn(const std::string& user, gid_t primary, gid_t gid) {
  std::vector<gid_t> groups(kMaxGroups);
  int count = kMaxGroups;
  if (user.empty() || getgrouplist(user.c_str(), primary, groups.data(), &count) < 0) {
    return false;
  }
  return std::find(groups.begin(), groups.begin() + count, gid) != groups.begin() + count;
}

// The first folder above `path` that cannot be entered, or `path` itself.
std::string Obstacle(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) != 0) {
      return folder;
    }
  }
  return path;
}

// The permission that is missing, and how to get it.
std::string MissingPermission(const std::string& path) {
  const std::string obstacle = Obstacle(path);
  struct stat file = {};
  if (stat(obstacle.c_str(), &file) != 0) {
    return obstacle + " cannot be reached by this user";
  }
  const mode_t wanted = S_ISDIR(file.st_mode) ? S_IXGRP : S_IWGRP;
  if ((file.st_mode & wanted) == 0 || ProcessIsIn(file.st_gid)) {
    return obstacle + " is not open to this user";
  }
  gid_t primary = 0;
  const std::string user = UserName(geteuid(), &primary);
  const std::string name = GroupName(file.st_gid);
  const std::string group = name.empty() ? std::to_string(file.st_gid) : name;
  const std::string belongs = obstacle + " belongs to group " + group + ", of which ";
  if (UserIsIn(user, primary, file.st_gid)) {
    return belongs + user + " is a member, but not since this login: log in again";
  }
  return belongs + "you are not a member" +
         (user.empty() || name.empty() ? "" : " (adduser " + user + " " + group + ")");
}

Status Unavailable(const std::string& address, const std::string& why) {
  return Status(ErrorInfo{.code = Code::kUnavailable,
                          .message = "no ttfd daemon answers at " + address + ": " + why,
                          .reason = "UNREACHABLE",
                          .retryable = true});
}

}  // namespace

Status ConnectFailure(const std::string& address, const std::string& detail) {
  const std::optional<std::string> path = PathOf(address);
  if (!path.has_value()) {
    return Unavailable(address, detail);
  }
  switch (ConnectError(*path)) {
    case EACCES:
      return Status(ErrorInfo{.code = Code::kPermissionDenied,
                              .message = MissingPermission(*path),
                              .reason = "UNREACHABLE"});
    case ENOENT:
      return Unavailable(address, "there is no such socket; is the daemon running?");
    case ECONNREFUSED:
      return Unavailable(address, "nothing listens on the socket; the daemon has ended");
    default:
      return Unavailable(address, detail);
  }
}

}  // namespace ttfd::client
