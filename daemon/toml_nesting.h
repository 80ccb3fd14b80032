// Refuses TOML that is nested too deeply for a parser that recurses.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace ttfd {

// Parts of one key, and arrays and tables within each other. ttfd.toml needs two and one.
inline constexpr int kMaxTomlDots = 16;
inline constexpr int kMaxTomlBrackets = 16;

// toml++ bounds neither the parts of dotted keys nor what they add up to, builds a table in a table for each and
// recurses over them: a file of 10 kB ends the process. INVALID_ARGUMENT names the line, "name:LINE: ...".
Status CheckTomlNesting(std::string_view text, const std::string& name);

}  // namespace ttfd
