// Sessions of the daemon as rows of tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "client/cli/json.h"
#include "ttfd/admin_types.h"

namespace ttfd::cli {

// All fields of a session.
Json SessionJson(const client::SessionInfo& session);

// Rows with their heading, the most important columns first (table.h): work that sessions have had done.
std::vector<std::vector<std::string>> SessionRows(const std::vector<client::SessionInfo>& sessions);
// The same of sessions that a drain waits for: what they hold, and what they wait for.
std::vector<std::vector<std::string>> LeftSessionRows(
    const std::vector<client::SessionInfo>& sessions);

}  // namespace ttfd::cli
