// Ring arithmetic that host and firmware must evaluate identically.
//
// Counters are free-running 32-bit numbers; an index is a counter modulo the ring, "how many" is a
// difference.
#pragma once

#include <stdint.h>

namespace ttfd::abi {

inline constexpr uint32_t kEntryAlignment =
    64;  // of every prefetch command and so of every fetch entry (PCIe reads)
inline constexpr uint32_t kMaxEntryBytes =
    128 * 1024;                                     // and never more than half of the command ring
inline constexpr uint32_t kFetchSlotUnitShift = 4;  // a slot holds size >> 4; 0 = empty
inline constexpr uint32_t kFetchSlotStall =
    0x8000;  // nothing further is fetched until this entry is executed
inline constexpr uint32_t kDispatchPageBytes = 4096;
inline constexpr uint32_t kDispatchSPageBytes = 256;
inline constexpr uint32_t kCompletionPageBytes = 4096;

// Where an entry of `size` bytes goes in the issue ring (and likewise in the prefetcher's command
// ring) when the last one ended at `position`: an entry is contiguous and never straddles the end.
// There is no wrap message; both sides call this.
constexpr uint32_t PlaceEntry(uint32_t position, uint32_t size, uint32_t ring_bytes) {
  return position + size > ring_bytes ? 0 : position;
}

// True when the free-running counter `value` has reached `expected` (less than 2^31 apart).
constexpr bool CounterReached(uint32_t value, uint32_t expected) {
  return static_cast<int32_t>(value - expected) >= 0;
}

}  // namespace ttfd::abi
