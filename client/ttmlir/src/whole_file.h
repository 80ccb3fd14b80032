// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "ttfd/status.h"

namespace ttfd::ttmlir {

// Replaces the file, or makes it. INVALID_ARGUMENT: `path` is there and no regular file. UNKNOWN: it cannot be written.
client::Status WriteWholeFile(const std::string& path, std::string_view bytes);

}  // namespace ttfd::ttmlir
