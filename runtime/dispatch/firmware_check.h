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
#include "runtime/dispatch/card_snapshot.h"
#include "runtime/dispatch/queue_state.h"

namespace ttfd {

// One for every tile whose firmware differs, at most `most` tiles. `hosts`: of each plan. Reads all of it, some 5 KiB
// a tile, but for what `card` shows: for a card that has stopped. A tile that cannot be read is passed over.
//
// Of the counts that the tiles of a queue share only some can be known to be wrong: what the host itself wrote, words
// that nobody writes, and a wait for a notification that everything before it has sent.
std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               const CardSnapshot& card,
                                               std::span<const QueueState> hosts,
                                               const FirmwareSet& firmware, uint32_t boot_nonce,
                                               size_t most);

}  // namespace ttfd
