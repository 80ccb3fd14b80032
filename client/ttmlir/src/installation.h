// Where files of the installation lie.
#pragma once

#include <string>

namespace ttfd::ttmlir {

// `path`, such as "share/ttfd/ttmlir", in the next of the four folders above this library where it exists: the prefix
// of an installation, or a build folder. Empty: there is none.
std::string FoundAbove(const std::string& path);

}  // namespace ttfd::ttmlir
