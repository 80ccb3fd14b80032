// Runs this hart's kernel of a launch: fresh data, then the entry point, on the base firmware's stack.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/io.h"
#include "firmware/common/status.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/noc.h"

namespace ttfd::firmware {

// Column number of a translated x: Tensix columns are 1..7 and 10..16.
constexpr uint32_t ColumnOf(uint32_t x) { return x <= 7 ? x - 1 : x - 3; }

// The fields that never change; the launch message's address is set before each run.
inline abi::KernelContext MakeKernelContext() {
  const uint32_t own = TTFD_BOOT(own_xy);
  const uint32_t start = TTFD_BOOT(worker_start_xy);
  abi::KernelContext context = {};
  context.hart = kThisHart;
  context.noc = kThisNiu;
  context.logical_x = ColumnOf(hw::NocX(own)) - ColumnOf(hw::NocX(start));
  context.logical_y = hw::NocY(own) - hw::NocY(start);
  return context;
}

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

// The slot of a launch message.
inline uint32_t LaunchSlot(uint32_t message) {
  return (message - abi::kLaunchRingAddress) >> abi::kLaunchSlotShift;
}

using KernelEntry = void (*)(const abi::KernelContext*);

// Where this hart's kernel of a launch lies; `message` is the address of the launch message.
inline uint32_t KernelHeader(uint32_t message) {
  const uint32_t header =
      Load(message + offsetof(abi::LaunchMessage, kernel_address) + 4 * kThisHart);
  if (header < abi::kKernelCacheAddress || (header & 15) != 0) [[unlikely]] {
    Fault(abi::kFaultBadLaunch, LaunchSlot(message), header, kThisHart);
  }
  return header;
}

inline KernelEntry EntryOf(uint32_t header) {
  return reinterpret_cast<KernelEntry>(
      header + Load(header + offsetof(abi::KernelImageHeader, entry_offset)));
}

// The lowest word of local RAM, to which the stack must never come down. Its address is what it holds: no
// other constant is as cheap. firmware.ld sees to it that nothing else lies there.
inline constexpr uint32_t kStackGuard = hw::kLocalRamAddress;

inline void PlaceStackGuard() { Store(kStackGuard, kStackGuard); }

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

inline void RunKernel(uint32_t message, abi::KernelContext& context) {
  const uint32_t header = KernelHeader(message);
  RestoreData(header);
  CallKernel(EntryOf(header), message, context);
}

}  // namespace ttfd::firmware
