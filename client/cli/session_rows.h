// Sessions of the daemon as rows of tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "client/cli/json.h"
#include "ttfd/admin_types.h"

namespace ttfd::cli {

// All fields of a session.
Json SessionJson(const client::SessionInfo& session);

// Rows with their heading, the most important columns first (table.h): what sessions have done,
std::vector<std::vector<std::string>> SessionRows(const std::vector<client::SessionInfo>& sessions);
// and what sessions hold that a drain waits for, and what they wait for themselves.
std::vector<std::vector<std::string>> LeftSessionRows(
    const std::vector<client::SessionInfo>& sessions);

}  // namespace ttfd::cli
