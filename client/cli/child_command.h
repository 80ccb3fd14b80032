// Commands that ttfdctl runs: `lease -- COMMAND`, `graph trace -- COMMAND`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ttfd::cli {

// Runs the command with the variables in its environment and waits for it; signals that would end this process go to
// it. Returns its exit code; 128 and its signal, if one ended it; 126 or 127, after a message, if it could not be run.
int RunChild(std::vector<std::string> command, const std::map<std::string, std::string>& variables);

}  // namespace ttfd::cli
