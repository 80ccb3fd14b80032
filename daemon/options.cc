// Puts command line, environment and file together. The only file that reads the environment.
#include "daemon/options.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

constexpr std::string_view kUnixScheme = "unix:";

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The text of `path`; nothing there is an error only if somebody asked for this very file.
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
  }
  if (file.bad()) return InvalidArgument("cannot read the configuration {}", path);
  return text;
}

void Override(const std::string& with, std::string* option) {
  if (!with.empty()) *option = with;
}

bool IsLogLevel(std::string_view name) {
  return name == "debug" || name == "info" || name == "warning" || name == "error";
}

}  // namespace

Status CheckOptions(Options* options) {
  std::string& address = options->listen.address;
  std::string_view path = address;
  if (path.starts_with(kUnixScheme)) {
    path.remove_prefix(kUnixScheme.size());
    if (path.starts_with("//")) path.remove_prefix(2);  // unix:///run/... is the same
  } else if (!path.starts_with("/") && !path.starts_with(".")) {
    return InvalidArgument(
        "address '{}' is neither unix:PATH nor a path: this daemon listens on unix sockets only",
        address);
  }
  // sun_path of sockaddr_un holds 107 characters and a zero.
  constexpr size_t kMaxPath = 107;
  if (path.empty() || path.size() > kMaxPath) {
    return InvalidArgument("socket path '{}' has {} characters, allowed are 1 to {}", path,
                           path.size(), kMaxPath);
  }
  address = std::string(kUnixScheme) + std::string(path);
  if (!IsLogLevel(options->log_level)) {
    return InvalidArgument("log level '{}' is none of debug, info, warning, error",
                           options->log_level);
  }
  const TlsOptions& tls = options->tls;
  const std::array<bool, 4> given = {!tls.address.empty(), !tls.certificate.empty(),
                                     !tls.key.empty(), !tls.client_ca.empty()};
  const auto count = std::count(given.begin(), given.end(), true);
  if (count != 0 && count != 4) {
    return InvalidArgument(
        "[tls] needs address, certificate, key and client_ca, all or none: there is no TCP without "
        "certificates of both sides");
  }
  if (options->listen.connections_per_user > options->listen.connections) {
    return InvalidArgument(
        "listen.connections_per_user is {}, more than listen.connections with {}",
        options->listen.connections_per_user, options->listen.connections);
  }
  if (options->scheduler.window_us > options->scheduler.quantum_us) {
    return InvalidArgument(
        "scheduler.window_us is {}, more than scheduler.quantum_us with {}: a newcomer would wait "
        "for more than one turn of another",
        options->scheduler.window_us, options->scheduler.quantum_us);
  }
  return OkStatus();
}

std::string SocketPath(const ListenOptions& listen) {
  return listen.address.substr(kUnixScheme.size());
}

StatusOr<Invocation> ReadInvocation(int argc, const char* const* argv) {
  ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(argc, argv));
  const Environment environment{Variable("TTFD_ADDRESS"), Variable("TTFD_CONFIG")};
  Invocation invocation;
  invocation.action = line.action;
  invocation.text = line.text;
  invocation.decode_path = line.decode_path;
  invocation.decode_json = line.decode_json;
  if (line.action == Invocation::Action::kPrint || line.action == Invocation::Action::kDecode) {
    return invocation;
  }

  Options& options = invocation.options;
  std::string path = kDefaultConfigPath;
  Override(environment.config, &path);
  Override(line.config, &path);
  const bool required = !environment.config.empty() || !line.config.empty();
  bool found = false;
  ASSIGN_OR_RETURN(const std::string text, ReadConfig(path, required, &found));
  if (found) {
    RETURN_IF_ERROR(ApplyToml(text, path, &options));
    invocation.config_path = path;
  }
  Override(environment.address, &options.listen.address);
  Override(line.socket, &options.listen.address);
  Override(line.device, &options.device.device);
  Override(line.record, &options.device.record_path);
  Override(line.log_level, &options.log_level);
  RETURN_IF_ERROR(CheckOptions(&options));
  return invocation;
}

}  // namespace ttfd
