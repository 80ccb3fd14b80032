// Variables of the environment that the library reads.
#include "client/ttmlir/src/options.h"

#include <cstdlib>

namespace ttfd::ttmlir {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string ProgramFolders() {
  std::string path = Variable("PATH");
  return path.empty() ? "/usr/bin:/bin" : path;
}

std::filesystem::path CacheFolder() {
  // Relative paths are invalid there, says the XDG base directory specification.
  const std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache;
  const std::string home = Variable("HOME");
  return home.starts_with('/') ? std::filesystem::path(home) / ".cache" : std::filesystem::path();
}

}  // namespace ttfd::ttmlir
