// A kernel's image in L1 (runtime/abi/kernel_image.h): fresh data, then the call of its entry point.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/status.h"
#include "firmware/common/this_hart.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware {

// A kernel without .bss and .data: there is nothing to restore before a run.
inline bool IsPlain(uint32_t header) {
  return (Load(header + offsetof(abi::KernelImageHeader, bss_bytes)) |
          Load(header + offsetof(abi::KernelImageHeader, data_bytes))) == 0;
}

// A kernel finds its .bss zero and its .data as linked, however often its image has run.
inline void RestoreData(uint32_t header) {
  const auto field = [header](uint32_t offset) { return Load(header + offset); };
  const uint32_t bss_bytes = field(offsetof(abi::KernelImageHeader, bss_bytes));
  if (bss_bytes != 0) {
    uint32_t to = header + field(offsetof(abi::KernelImageHeader, bss_offset));
    for (const uint32_t end = to + bss_bytes; to != end; to += 4) {
      Store(to, 0);
    }
  }
  const uint32_t data_bytes = field(offsetof(abi::KernelImageHeader, data_bytes));
  if (data_bytes != 0) {
    uint32_t from = header + field(offsetof(abi::KernelImageHeader, pristine_offset));
    uint32_t to = header + field(offsetof(abi::KernelImageHeader, data_offset));
    for (const uint32_t end = to + data_bytes; to != end; to += 4, from += 4) {
      Store(to, Load(from));
    }
  }
}

using KernelEntry = void (*)(const abi::KernelContext*);

inline KernelEntry EntryOf(uint32_t header) {
  return reinterpret_cast<KernelEntry>(
      header + Load(header + offsetof(abi::KernelImageHeader, entry_offset)));
}

// The lowest word of local RAM, to which the stack must never come down. Its address is what it holds: no
// other constant is as cheap. firmware.ld sees to it that nothing else lies there.
inline constexpr uint32_t kStackGuard = hw::kLocalRamAddress;

// Leaves the kernel's waypoint: who called sets the next. A kernel that came below its stack may have done
// anything, so nothing more is run after it.
inline void CallKernel(KernelEntry entry, uint32_t message, abi::KernelContext& context) {
  context.launch_message_address = message;
  SetWaypoint(abi::kWaypointKernel);
  entry(&context);
  const uint32_t guard = Load(kStackGuard);
  if (guard != kStackGuard) [[unlikely]] {
    Fault(abi::kFaultStackOverflow, reinterpret_cast<uint32_t>(entry), guard, kThisHart);
  }
}

}  // namespace ttfd::firmware
