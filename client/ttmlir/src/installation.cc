// Where files of the installation lie.
#include "client/ttmlir/src/installation.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace ttfd::ttmlir {

std::string FoundAbove(const std::string& path) {
  constexpr int kFoldersAbove = 4;
  Dl_info info = {};
  void* object = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&FoundAbove), &info, &object, RTLD_DL_LINKMAP) == 0) {
    return "";
  }
  // The name of a program is what it was called, without a folder if it was found in PATH.
  const std::string name = static_cast<const link_map*>(object)->l_name;
  std::error_code ignored;
  std::filesystem::path folder =
      std::filesystem::canonical(name.empty() ? "/proc/self/exe" : name, ignored);
  for (int i = 0; i < kFoldersAbove; ++i) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / path, ignored)) return (folder / path).string();
  }
  return "";
}

}  // namespace ttfd::ttmlir
