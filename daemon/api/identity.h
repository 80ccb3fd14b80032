// Identity of a daemon: its version, and what it serves. Constant from its start on.
#pragma once

#include <string>
#include <vector>

namespace ttfd {

struct DaemonIdentity {
  std::string version = "0.1.0";
  std::string device = "sim";  // that --device named or chose
  std::vector<std::string> warnings = {};
  bool one_user = false;  // does it serve one user alone (UserTable)?
};

}  // namespace ttfd
