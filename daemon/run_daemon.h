// ttfd from its command line to its exit code.
#pragma once

#include "runtime/device/kmd/system.h"

namespace ttfd {

// `system`: through which a card is reached. Exit codes: see --help.
int RunDaemon(int argc, char** argv, const kmd::System& system);

}  // namespace ttfd
