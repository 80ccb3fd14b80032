#include "daemon/config_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/rpc/group_id.h"
#include "daemon/rpc/tcp_listener.h"
#include "daemon/rpc/tls_files.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {
namespace {

namespace fs = std::filesystem;

Status Refused(const char* what, const std::string& path, int error) {
  return InvalidArgument("user {} cannot {} {}: {}", geteuid(), what, path, std::strerror(error));
}

// Makes a file in `folder` that has no name or loses it at once. Rights alone do not say whether that is possible:
// there are read-only file systems, and such as /proc where not even root makes files. 0 or an error number.
int TryToMakeFile(const std::string& folder) {
  if (UniqueFd(open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)).valid()) return 0;
  // Not every file system has files without a name.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return errno;
  std::string name = folder + "/.ttfd-check-XXXXXX";
  if (!UniqueFd(mkostemp(name.data(), O_CLOEXEC)).valid()) return errno;
  unlink(name.c_str());
  return 0;
}

// Whether files can be made in `folder`, which must exist.
Status CheckFolder(const std::string& folder) {
  struct stat about {};
  if (stat(folder.c_str(), &about) != 0) {
    return InvalidArgument("folder {}: {}", folder, std::strerror(errno));
  }
  if (!S_ISDIR(about.st_mode)) return InvalidArgument("{} is not a folder", folder);
  const int error = TryToMakeFile(folder);
  return error == 0 ? OkStatus() : Refused("make files in folder", folder, error);
}

// The same of a folder that is made when it is needed, with those above it.
Status CheckFutureFolder(const std::string& folder) {
  std::error_code error;
  fs::path nearest = fs::absolute(folder, error);
  while (nearest.has_relative_path() && !fs::exists(fs::symlink_status(nearest, error))) {
    nearest = nearest.parent_path();
  }
  return Annotate(CheckFolder(nearest.string()), fmt::format("'{}' cannot be used", folder));
}

Status CheckAuditFile(const std::string& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) == 0) {
    if (S_ISLNK(about.st_mode)) return InvalidArgument("{} is a symbolic link", path);
    if (S_ISDIR(about.st_mode)) return InvalidArgument("{} is a folder", path);
    if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) return OkStatus();
    return Refused("write to", path, errno);
  }
  if (errno != ENOENT) return Refused("write to", path, errno);
  const fs::path folder = fs::path(path).parent_path();
  return Annotate(CheckFolder(folder.empty() ? "." : folder.string()),
                  fmt::format("'{}' cannot be made", path));
}

Status CheckGroup(const std::string& name) {
  if (GroupId(name)) return OkStatus();
  return InvalidArgument("there is no group '{}' on this machine", name);
}

Status CheckGroups(const Origins& origins, const Options& options) {
  if (!options.listen.group.empty()) {
    RETURN_IF_ERROR(Annotate(CheckGroup(options.listen.group), origins.Where("listen.group")));
  }
  const std::pair<const char*, const std::vector<std::string>*> roles[] = {
      {"roles.submit", &options.roles.submit},
      {"roles.observe", &options.roles.observe},
      {"roles.admin", &options.roles.admin}};
  for (const auto& [key, names] : roles) {
    if (!origins.Has(key)) continue;
    for (const std::string& name : *names) {
      RETURN_IF_ERROR(Annotate(CheckGroup(name), origins.Where(key)));
    }
  }
  return OkStatus();
}

Status CheckTls(const Origins& origins, const TlsOptions& tls) {
  if (tls.address.empty()) return OkStatus();
  RETURN_IF_ERROR(Annotate(ParseTcpAddress(tls.address).status(), origins.Where("tls.address")));
  RETURN_IF_ERROR(Annotate(CheckCertificateFile("certificate", tls.certificate),
                           origins.Where("tls.certificate")));
  RETURN_IF_ERROR(
      Annotate(CheckCertificateFile("client CA", tls.client_ca), origins.Where("tls.client_ca")));
  return Annotate(CheckKeyFile(tls.key, tls.certificate), origins.Where("tls.key"));
}

std::string DefaultHangFolder(const StateFolders& state_folders, const std::string& standard) {
  if (!state_folders.service.empty()) return state_folders.service + "/hangs";
  const std::string parent = fs::path(standard).parent_path();
  if (CheckFolder(fs::exists(standard) ? standard : parent).ok()) return standard;
  const std::string own = state_folders.user + "/ttfd/hangs";
  return !state_folders.user.empty() && CheckFutureFolder(own).ok() ? own : "";
}

}  // namespace

Status CheckConfiguration(const Origins& origins, const StateFolders& state_folders,
                          Options* options) {
  RETURN_IF_ERROR(CheckGroups(origins, *options));
  RETURN_IF_ERROR(CheckTls(origins, options->tls));
  if (!options->audit_file.empty()) {
    RETURN_IF_ERROR(Annotate(CheckAuditFile(options->audit_file), origins.Where("log.audit_file")));
  }
  std::string& folder = options->hangs.folder;
  if (!origins.Has("hangs.folder")) folder = DefaultHangFolder(state_folders, folder);
  if (folder.empty()) return OkStatus();
  return Annotate(CheckFutureFolder(folder), origins.Where("hangs.folder"));
}

}  // namespace ttfd
