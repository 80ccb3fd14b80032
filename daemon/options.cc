// Puts command line, environment and file together. The only file that reads the environment.
#include "daemon/options.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "daemon/session/receive_window.h"
#include "runtime/base/log.h"

namespace ttfd {
namespace {

constexpr std::string_view kUnixScheme = "unix:";
// Some hundred times the shipped file.
constexpr size_t kMaxConfigBytes = size_t{1} << 20;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

StateFolders ReadStateFolders() {
  StateFolders folders;
  const std::string service = Variable("STATE_DIRECTORY");
  folders.service = service.substr(0, service.find(':'));  // of several the first
  folders.user = Variable("XDG_STATE_HOME");
  // Relative paths are invalid there, says the XDG base directory specification.
  if (folders.user.starts_with('/')) return folders;
  const std::string home = Variable("HOME");
  folders.user = home.empty() ? "" : home + "/.local/state";
  return folders;
}

// The text of `path`; that there is no such file is an error only if it is `required`.
StatusOr<std::string> ReadConfig(const std::string& path, bool required, bool* found) {
  std::ifstream file(path, std::ios::binary);
  *found = file.is_open();
  if (!*found) {
    if (!required && errno == ENOENT) return std::string();
    return InvalidArgument("cannot read the configuration {}: {}", path, std::strerror(errno));
  }
  std::string text;
  for (char part[4096]; file.read(part, sizeof(part)) || file.gcount() > 0;) {
    text.append(part, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxConfigBytes) {
      return InvalidArgument("the configuration {} has more than {} bytes", path, kMaxConfigBytes);
    }
  }
  if (file.bad()) return InvalidArgument("cannot read the configuration {}", path);
  return text;
}

// `place` set it, if it is not empty.
void Override(const std::string& with, const char* place, const char* key, std::string* option,
              Origins* origins) {
  if (with.empty()) return;
  *option = with;
  origins->Set(key, place);
}

bool IsLogLevel(std::string_view name) {
  return name == "debug" || name == "info" || name == "warning" || name == "error";
}

template <typename... Args>
Status Wrong(const Origins& origins, const char* key, fmt::format_string<Args...> format,
             Args&&... args) {
  return InvalidArgument("{}: {}", origins.Where(key),
                         fmt::format(format, std::forward<Args>(args)...));
}

// "unix:PATH", "unix:///PATH", or a path. What has a colon could be meant as another kind of address: as a path it
// needs a slash before the colon.
Status CheckAddress(const Origins& origins, std::string* address) {
  constexpr char kKey[] = "listen.address";
  std::string_view path = *address;
  if (path.starts_with(kUnixScheme)) {
    path.remove_prefix(kUnixScheme.size());
    if (path.starts_with("//")) path.remove_prefix(2);  // unix:///run/... is the same
  } else if (const size_t colon = path.find(':');
             colon != std::string_view::npos && path.find('/') > colon) {
    return Wrong(origins, kKey,
                 "'{}' is neither unix:PATH nor a path: this daemon listens on unix sockets only, "
                 "and with [tls] on TCP",
                 *address);
  }
  // sun_path of sockaddr_un holds 107 characters and a zero.
  constexpr size_t kMaxPath = 107;
  if (path.empty() || path.size() > kMaxPath) {
    return Wrong(origins, kKey, "socket path '{}' has {} characters, allowed are 1 to {}", path,
                 path.size(), kMaxPath);
  }
  *address = std::string(kUnixScheme) + std::string(path);
  return OkStatus();
}

Status CheckTls(const Origins& origins, const TlsOptions& tls) {
  const std::pair<const char*, const std::string*> keys[] = {{"tls.address", &tls.address},
                                                             {"tls.certificate", &tls.certificate},
                                                             {"tls.key", &tls.key},
                                                             {"tls.client_ca", &tls.client_ca}};
  const char* given = nullptr;
  const char* missing = nullptr;
  for (const auto& [key, value] : keys) (value->empty() ? missing : given) = key;
  if (given == nullptr || missing == nullptr) return OkStatus();
  return Wrong(origins, given,
               "{} is missing; [tls] needs address, certificate, key and client_ca, all or none: "
               "there is no TCP without certificates of both sides",
               missing);
}

}  // namespace

std::string Origins::Where(const std::string& key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return key;
  // A flag or a variable says by itself what it is.
  const bool in_file = found->second.find(':') != std::string::npos;
  return in_file ? found->second + ": " + key : found->second;
}

Status CheckOptions(const Origins& origins, Options* options) {
  RETURN_IF_ERROR(CheckAddress(origins, &options->listen.address));
  if (!IsLogLevel(options->log_level)) {
    return Wrong(origins, "log.level", "'{}' is none of debug, info, warning, error",
                 options->log_level);
  }
  RETURN_IF_ERROR(CheckTls(origins, options->tls));
  if (options->listen.connections_per_user > options->listen.connections) {
    return Wrong(origins, "listen.connections_per_user",
                 "it is {}, more than listen.connections with {}",
                 options->listen.connections_per_user, options->listen.connections);
  }
  const SessionLimits& limits = options->limits;
  if (limits.window_bytes < LeastWindow(limits)) {
    return InvalidArgument(
        "limits.window_bytes is {}, less than {}: one and a half of the larger of "
        "limits.chunk_bytes and limits.inline_bytes",
        limits.window_bytes, LeastWindow(limits));
  }
  if (limits.window_bytes > limits.window_bytes_per_user) {
    return InvalidArgument(
        "limits.window_bytes is {}, more than limits.window_bytes_per_user with {}",
        limits.window_bytes, limits.window_bytes_per_user);
  }
  if (limits.unacknowledged_bytes > limits.unacknowledged_bytes_per_user) {
    return InvalidArgument(
        "limits.unacknowledged_bytes is {}, more than limits.unacknowledged_bytes_per_user with {}",
        limits.unacknowledged_bytes, limits.unacknowledged_bytes_per_user);
  }
  if (options->scheduler.window_us > options->scheduler.quantum_us) {
    return Wrong(origins, "scheduler.window_us",
                 "it is {}, more than scheduler.quantum_us with {}: a newcomer would wait for more "
                 "than one turn of another",
                 options->scheduler.window_us, options->scheduler.quantum_us);
  }
  return OkStatus();
}

std::string SocketPath(const ListenOptions& listen) {
  return listen.address.substr(kUnixScheme.size());
}

StatusOr<Invocation> ReadInvocation(int argc, const char* const* argv) {
  ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(argc, argv));
  Invocation invocation;
  invocation.action = line.action;
  invocation.text = line.text;
  invocation.decode_path = line.decode_path;
  invocation.decode_json = line.decode_json;
  if (line.action == Invocation::Action::kPrint || line.action == Invocation::Action::kDecode) {
    return invocation;
  }

  const std::string config = Variable("TTFD_CONFIG");
  std::string path = line.config.empty() ? config : line.config;
  const bool required = !path.empty();
  if (!required) path = kDefaultConfigPath;
  Options& options = invocation.options;
  Origins& origins = invocation.origins;
  bool found = false;
  ASSIGN_OR_RETURN(const std::string text, ReadConfig(path, required, &found));
  if (found) {
    RETURN_IF_ERROR(ApplyToml(text, path, &options, &origins));
    invocation.config_path = path;
  }
  std::string& address = options.listen.address;
  Override(Variable("TTFD_ADDRESS"), "TTFD_ADDRESS", "listen.address", &address, &origins);
  Override(line.socket, "--socket", "listen.address", &address, &origins);
  if (!line.devices.empty()) {
    options.device.devices = line.devices;
    origins.Set("device.device", "--device");
  }
  Override(line.log_level, "--log-level", "log.level", &options.log_level, &origins);
  options.device.record_path = line.record;
  RETURN_IF_ERROR(CheckOptions(origins, &options));
  invocation.state_folders = ReadStateFolders();
  return invocation;
}

}  // namespace ttfd
