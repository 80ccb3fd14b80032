// WAIT: barrier, memory, stream, clear stream, notify - in this order, whichever the flags ask for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/dispatch/dispatch/niu.h"
#include "firmware/dispatch/dispatch/ring.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/hw/stream.h"

namespace ttfd::firmware::dispatch {

inline void ExecuteWait(const Ring& ring, const Writes& writes, uint32_t word) {
  const uint32_t at = ring.cursor();
  const uint32_t flags = word >> 8 & 0xFF;
  const uint32_t stream = word >> 16;
  const uint32_t count = Load(at + offsetof(abi::Wait, count));
  if (stream >= hw::kStreams) [[unlikely]] {
    Fault(abi::kFaultBadCount, word & 0xFF, stream, hw::kStreams - 1);
  }
  SetAwaited(stream, count);
  if ((flags & abi::kWaitBarrier) != 0) {
    writes.Barrier();
  }
  if ((flags & abi::kWaitMemory) != 0) {
    const uint32_t address = Load(at + offsetof(abi::Wait, address));
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
  }
  if ((flags & abi::kWaitNotifyPrefetch) != 0) {
    AtomicIncrement<0, 2>(abi::kControlBlockAddress + offsetof(abi::ControlBlock, sync), 1);
  }
}

}  // namespace ttfd::firmware::dispatch
