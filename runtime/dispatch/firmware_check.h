// Is the firmware on the card what the host loaded? There is no protection of memory: a kernel can write over it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/device/device.h"

namespace ttfd {

struct FirmwareDamage {
  std::string where;  // "worker (3,2) tile (4,4)"
  hw::Coordinate tile = {0, 0};
  uint32_t hart = 0;     // whose image it is
  uint32_t address = 0;  // of the first word that differs
  uint32_t expected = 0;
  uint32_t found = 0;
};

// One for every tile whose firmware differs, at most `most` tiles. Reads all of it, some 5 KiB a tile:
// for a card that has stopped. A tile that cannot be read is passed over.
std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               const FirmwareSet& firmware, size_t most);

// "worker (3,2) tile (4,4) BRISC firmware was overwritten at 0x1040: 0x0 instead of 0x13"
std::string ToString(const FirmwareDamage& damage);

}  // namespace ttfd
