// Runs this hart's kernel of a launch, on the base firmware's stack.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/io.h"
#include "firmware/common/kernel_image.h"
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

// The slot of a launch message.
inline uint32_t LaunchSlot(uint32_t message) {
  return (message - abi::kLaunchRingAddress) >> abi::kLaunchSlotShift;
}

// Where this hart's kernel of a launch lies; `message` is the address of the launch message.
inline uint32_t KernelHeader(uint32_t message) {
  const uint32_t header =
      Load(message + offsetof(abi::LaunchMessage, kernel_address) + 4 * kThisHart);
  if (header < abi::kKernelCacheAddress || (header & 15) != 0) [[unlikely]] {
    Fault(abi::kFaultBadLaunch, LaunchSlot(message), header, kThisHart);
  }
  return header;
}

inline void PlaceStackGuard() { Store(kStackGuard, kStackGuard); }

inline void RunKernel(uint32_t message, abi::KernelContext& context) {
  const uint32_t header = KernelHeader(message);
  RestoreData(header);
  CallKernel(EntryOf(header), message, context);
}

}  // namespace ttfd::firmware
