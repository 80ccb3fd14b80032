// Parts of a card that its sessions share: description, memory, loaded kernels, numbers of programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/session/device_memory.h"
#include "daemon/session/kernel_store.h"
#include "runtime/base/clock.h"
#include "runtime/card/card.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/tile_set.h"
#include "runtime/device/link_status.h"

namespace ttfd {

// Expected times of kernels that have not run yet.
struct KernelTimes {
  Duration segment = std::chrono::microseconds(500);  // of a trace, at most
  Duration launch = std::chrono::microseconds(250);   // of each launch of a program
};

// One a card. Constant but for the parts that are thread-safe by themselves. Outlives every session of the card.
struct CardResources {
  const uint32_t device;  // number of the card
  const CardDescription& description;
  const CardGeometry& geometry;
  const KernelTimes times;
  DeviceMemory memory;
  KernelStore& kernels;  // of all cards
  const std::vector<Neighbour> neighbours = {};
  std::atomic<uint32_t> program_ids{0};  // the newest
};

// The cards of the daemon as a session sees them.
struct SessionCards {
  std::span<CardResources* const> all;  // by number
  uint32_t device = 0;                  // card of queues that name none
  std::vector<uint32_t> leased = {};    // not empty: the session uses these cards alone, ascending,
  TileSet workers = {};                 // and these workers; none: all
};

}  // namespace ttfd
