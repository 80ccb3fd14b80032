// ttfd decode: a captured record stream as text, or as one JSON object a command.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace ttfd {

// Prints to standard output.
Status DecodeRecordFile(const std::string& path, bool json);

}  // namespace ttfd
