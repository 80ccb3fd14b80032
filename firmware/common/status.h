// Status that this hart publishes: HartStatus in a fixed place of its tile's L1.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/this_hart.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"

namespace ttfd::firmware {

inline constexpr uint32_t kStatus = abi::kHartStatusAddress + kThisHart * abi::kHartStatusBytes;

// Waypoint that a hart shows while it is not waiting.
#ifdef TTFD_KERNEL
inline constexpr uint32_t kRunningWaypoint = abi::kWaypointKernel;
#else
inline constexpr uint32_t kRunningWaypoint = abi::kWaypointRun;
#endif

inline void SetState(abi::HartState state) {
  Store(kStatus + offsetof(abi::HartStatus, state), state);
}

inline void SetWaypoint(uint32_t waypoint) {
  Store(kStatus + offsetof(abi::HartStatus, waypoint), waypoint);
}

// A kernel's note ends with its launch, whatever the kernel has done.
inline void ClearNote() { Store(kStatus + offsetof(abi::HartStatus, note_kind), 0); }

inline void SetProgress(uint32_t progress) {
  Store(kStatus + offsetof(abi::HartStatus, progress), progress);
}

inline void SetCommand(uint32_t command) {
  Store(kStatus + offsetof(abi::HartStatus, command), command);
}

// Publishes the condition of the wait about to begin.
inline void SetAwaited(uint32_t stream, uint32_t count) {
  Store(kStatus + offsetof(abi::HartStatus, wait_stream), stream);
  Store(kStatus + offsetof(abi::HartStatus, wait_count), count);
}

// Does nothing more until the tile is reset. The simulator parks a hart here.
[[noreturn]] inline void Park() {
  for (;;) {
    Fence();
  }
}

// `offset` says where the command lies.
[[noreturn, gnu::always_inline]] inline void StopOnFault(abi::FaultCode code, uint32_t detail0,
                                                         uint32_t detail1, uint32_t detail2,
                                                         uint32_t offset) {
  constexpr uint32_t kDetail = kStatus + offsetof(abi::HartStatus, fault_detail);
  Store(kDetail + 0, detail0);
  Store(kDetail + 4, detail1);
  Store(kDetail + 8, detail2);
  Store(kStatus + offsetof(abi::HartStatus, fault_offset), offset);
  Store(kStatus + offsetof(abi::HartStatus, fault_code), code);
  SetState(abi::kHartFaulted);
  Park();
}

// Out of line and cold: every caller is a check that should not fail.
[[noreturn, gnu::noinline, gnu::cold]] inline void Fault(abi::FaultCode code, uint32_t detail0,
                                                         uint32_t detail1, uint32_t detail2,
                                                         uint32_t offset = 0) {
  StopOnFault(code, detail0, detail1, detail2, offset);
}

}  // namespace ttfd::firmware
