// Variables of the environment that the library reads.
#pragma once

#include <filesystem>
#include <string>

namespace ttfd::ttmlir {

// PATH, the folders of programs, separated by colons.
std::string ProgramFolders();
// The user's folder for what can be made again: XDG_CACHE_HOME, or .cache of HOME. Empty: there is none.
std::filesystem::path CacheFolder();

}  // namespace ttfd::ttmlir
