// Counters the dispatch tiles and the host share, at kControlBlockAddress of both dispatch tiles of
// a hardware queue. Every counter is free-running, starts at 0, has one writer (or only NoC atomic
// increments) and 16 bytes of its own, because NoC atomics want that alignment.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

inline constexpr uint32_t kMaxHardwareQueues = 2;
inline constexpr uint32_t kMaxSubDevices = 8;

struct alignas(16) Counter {
  uint32_t value;
  uint32_t reserved[3];
};

// A sub-device as dispatch_s uses it. The dispatcher writes it, at the host's command, while no go signal of the
// sub-device is outstanding; kPublishGos alone may be set at any time.
struct alignas(16) SubDevice {
  uint32_t
      word;  // workers that answer a multicast go | kPublishGos | go words before those of its generation << 24
  uint32_t reserved[3];
};
inline constexpr uint32_t kSubDeviceAnswersMask = 0xFFFF;
inline constexpr uint32_t kPublishGos =
    1u << 16;  // go signals that are answered are published: GoCounts
inline constexpr uint32_t kSubDeviceGenerationShift = 24;

struct ControlBlock {
  // Prefetch tile.
  Counter entries_fetched;          // prefetcher: entries whose issue bytes are no longer needed
                                    // (PREFETCH_Q_RD); source of the FetchPointer write
  Counter dispatch_pages_returned;  // dispatcher increments: pages of its ring that are free again
  Counter dispatch_s_pages_returned;  // dispatch_s increments
  Counter sync;  // dispatcher increments on WAIT with NOTIFY_PREFETCH; STALL n waits for n
  // Dispatch tile.
  Counter dispatch_pages_arrived;    // prefetcher increments
  Counter dispatch_s_pages_arrived;  // prefetcher increments
  Counter completion_pages_read;     // host writes
  Counter last_event[kMaxHardwareQueues];
  Counter notified[kMaxSubDevices];  // dispatcher increments on NOTIFY_SUBORDINATE_GO_SIGNAL
  uint32_t completion_staging[4];    // source of the CompletionPointer write
  SubDevice sub_devices[kMaxSubDevices];
  uint32_t gos_answered[kMaxSubDevices];  // dispatch_s: source of the GoCounts write
  uint32_t gos_sent[kMaxSubDevices];      // dispatch_s: go signals since the boot
};
static_assert(sizeof(ControlBlock) == 30 * 16, "no padding");

}  // namespace ttfd::abi
