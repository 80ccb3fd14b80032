// Processes of this machine by number.
#pragma once

#include <cstdint>

namespace ttfd {

// Whether the process `pid` has ended, waited for or not. False also where that cannot be known; 0 is no process.
bool ProcessHasEnded(uint32_t pid);

}  // namespace ttfd
