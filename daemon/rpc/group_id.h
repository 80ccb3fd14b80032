// Groups of this machine by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ttfd {

// The number of the group; nothing if the user database has none of this name. Asks the database, which may block: for
// the start of the daemon alone.
std::optional<uint32_t> GroupId(const std::string& name);

}  // namespace ttfd
