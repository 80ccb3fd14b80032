// Where files of the installation lie.
#include "client/ttmlir/src/installation.h"

#include <dlfcn.h>

#include <filesystem>

namespace ttfd::ttmlir {

std::string FoundAbove(const std::string& path) {
  constexpr int kFoldersAbove = 4;
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&FoundAbove), &info) == 0) return "";
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::canonical(info.dli_fname, ignored);
  for (int i = 0; i < kFoldersAbove; ++i) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / path, ignored)) return (folder / path).string();
  }
  return "";
}

}  // namespace ttfd::ttmlir
