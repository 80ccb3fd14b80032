// Where files of the installation lie.
#include "client/ttmlir/src/installation.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace ttfd::ttmlir {

std::string FoundAbove(const std::string& path) {
  constexpr int kFoldersAbove = 4;
  Dl_info info = {};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&FoundAbove), &info, reinterpret_cast<void**>(&object),
              RTLD_DL_LINKMAP) == 0) {
    return "";
  }
  // A program that contains this library has no name there, and its first argument need not be a path.
  const char* const file = *object->l_name == '\0' ? "/proc/self/exe" : object->l_name;
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::canonical(file, ignored);
  for (int i = 0; i < kFoldersAbove; ++i) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / path, ignored)) return (folder / path).string();
  }
  return "";
}

}  // namespace ttfd::ttmlir
