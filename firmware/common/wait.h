// The one wait of all firmware and kernels.
//
// It has no counter: the host's deadline bounds every wait, and a loop whose registers repeat is what
// the simulator can park. The fence in each trip makes a poll of L1 right with the L0 data cache on.
#pragma once

#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/status.h"
#include "runtime/abi/hart_status.h"

namespace ttfd::firmware {

// Returns once `done()`. A condition that already holds costs nothing but its evaluation; otherwise
// the hart shows `waypoint` until it holds, and kRunningWaypoint again after that.
template <typename Done>
[[gnu::always_inline]] inline void WaitUntil(uint32_t waypoint, Done done) {
  if (done()) [[likely]] {
    return;
  }
  SetWaypoint(waypoint);
  do {
    Fence();
  } while (!done());
  SetWaypoint(kRunningWaypoint);
}

// The same for a word in L1 that announces others: what its writer wrote before it may be read
// afterwards.
template <typename Done>
[[gnu::always_inline]] inline void WaitForMemory(uint32_t waypoint, Done done) {
  WaitUntil(waypoint, done);
  Fence();
}

}  // namespace ttfd::firmware
