// Files and what is in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/kmd/doctor/facts.h"
#include "runtime/device/kmd/system.h"

namespace ttfd::kmd {

bool Lists(Files& files, const std::string& folder, std::string_view name);
FileFact ReadFact(Files& files, const std::string& path);

// Numbers, decimal or hexadecimal behind "0x"; none: no text, or no number.
std::optional<int64_t> NumberIn(const std::optional<std::string>& text);
std::optional<uint64_t> UnsignedIn(const std::optional<std::string>& text);
std::vector<std::string> LinesOf(const std::string& text);

}  // namespace ttfd::kmd
