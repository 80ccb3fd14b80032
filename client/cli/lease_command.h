// ttfdctl lease and ttfdctl leases: commands under a lease of the card, and who holds or waits for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/commands.h"

namespace ttfd::cli {

struct LeaseArguments {
  std::vector<std::string> tiles;   // none: the whole device
  std::optional<uint32_t> wait_ms;  // unset: as long as the daemon allows
  std::vector<std::string> command;
};

// Runs the command under a lease, its token in TTFD_LEASE. Returns the command's exit code; 128 and its signal, if one
// ended it; 126 or 127 if it could not be run.
int RunUnderLease(const Common& common, const LeaseArguments& arguments);

int ListLeases(const Common& common);

}  // namespace ttfd::cli
