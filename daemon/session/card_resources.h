// Parts of a booted card that its sessions share: description, memory, loaded kernels, numbers of programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "daemon/session/device_memory.h"
#include "daemon/session/kernel_store.h"
#include "runtime/base/clock.h"
#include "runtime/card/card.h"
#include "runtime/command/card_geometry.h"

namespace ttfd {

// Expected times of kernels that have not run yet.
struct KernelTimes {
  Duration segment = std::chrono::microseconds(500);  // of a trace, at most
  Duration launch = std::chrono::microseconds(250);   // of each launch of a program
};

// One a card. Constant but for the parts that are thread-safe by themselves. Outlives every session of the card.
struct CardResources {
  const CardDescription description;
  const CardGeometry& geometry;
  const KernelTimes times;
  DeviceMemory memory;
  KernelStore kernels;
  std::atomic<uint32_t> program_ids{0};  // the newest
};

}  // namespace ttfd
