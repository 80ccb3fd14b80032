// WAIT: barrier, memory, stream, clear stream, notify - in this order, whichever the flags ask for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware::dispatch {

inline constexpr uint32_t kAllWaitFlags = abi::kWaitBarrier | abi::kWaitNotifyPrefetch |
                                          abi::kWaitMemory | abi::kWaitStream |
                                          abi::kWaitClearStream;

inline void ExecuteWait(const Ring& ring, const Writes& writes, uint32_t word) {
  const uint32_t at = ring.cursor();
  const uint32_t flags = word >> 8 & 0xFF;
  const uint32_t stream = word >> 16;
  const uint32_t count = Load(at + offsetof(abi::Wait, count));
  if (stream >= hw::kStreams || flags > kAllWaitFlags) [[unlikely]] {
    Refuse(at, abi::kFaultBadCount, flags << 16 | stream, kAllWaitFlags << 16 | hw::kStreams);
  }
  SetAwaited(stream, count);
  if ((flags & abi::kWaitBarrier) != 0) {
    writes.Barrier();
  }
  if ((flags & abi::kWaitMemory) != 0) {
    const uint32_t address = Load(at + offsetof(abi::Wait, address));
    if (address % 4 != 0 || address >= hw::kL1Bytes) [[unlikely]] {
      Refuse(at, abi::kFaultBadLength, address, hw::kL1Bytes);
    }
    WaitForMemory(abi::kWaypointWait,
                  [address, count] { return static_cast<int32_t>(Load(address) - count) >= 0; });
  }
  const uint32_t available = hw::StreamRegister(stream, hw::kStreamSpaceAvailable);
  if ((flags & abi::kWaitStream) != 0) {
    WaitUntil(abi::kWaypointWait,
              [available, count] { return hw::StreamCounterReached(Load(available), count); });
  }
  if ((flags & abi::kWaitClearStream) != 0) {
    const uint32_t minus = -Load(available) & hw::kStreamCounterMask;
    Store(hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate),
          minus << hw::kStreamUpdateShift);
    // Whoever is told next must not find the old count.
    WaitUntil(abi::kWaypointWait, [available] { return Load(available) == 0; });
  }
  if ((flags & abi::kWaitNotifyPrefetch) != 0) {
    AtomicIncrement<0, 2>(TTFD_BOOT(prefetch_xy),
                          abi::kControlBlockAddress + offsetof(abi::ControlBlock, sync), 1);
  }
}

}  // namespace ttfd::firmware::dispatch
