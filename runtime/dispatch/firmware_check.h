// Is what the tiles' firmware runs on what the host put there, its code and what it was told? There is no protection of
// memory: a kernel can write over it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/device/device.h"

namespace ttfd {

struct FirmwareDamage {
  std::string where;                 // "worker (3,2) tile (4,4)"
  std::string what = {};             // "BRISC firmware", "boot block", "control block"
  int32_t hardware_queue = kWorker;  // whose tile it is, if it prefetches or dispatches
  hw::Coordinate tile = {0, 0};
  uint32_t address = 0;  // of the first word that differs
  uint32_t expected = 0;
  uint32_t found = 0;

  static constexpr int32_t kWorker = -1;
};

// What the host last told a hardware queue.
struct QueueWords {
  uint32_t completion_pages_read = 0;
};

// One for every tile whose firmware differs, at most `most` tiles. `queues`: of each plan. Reads all of it, some 5 KiB
// a tile: for a card that has stopped. A tile that cannot be read is passed over.
//
// Of the counts that the tiles of a queue share only some can be known to be wrong: what the host itself wrote, words
// that nobody writes, and a wait for a notification that everything before it has sent.
std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               std::span<const QueueWords> queues,
                                               const FirmwareSet& firmware, uint32_t boot_nonce,
                                               size_t most);

// "worker (3,2) tile (4,4) BRISC firmware was overwritten at 0x1040: 0x0 instead of 0x13"
std::string ToString(const FirmwareDamage& damage);

}  // namespace ttfd
