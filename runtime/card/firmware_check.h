// Compares what runs on the tiles with what the host put there: firmware, what it was started with, and the kernels
// that workers run. There is no protection of memory: a kernel can write over it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/card/card_snapshot.h"
#include "runtime/card/kernel_cache.h"
#include "runtime/card/program_registry.h"
#include "runtime/card/queue_state.h"
#include "runtime/device/device.h"

namespace ttfd {

// One for every tile of which something differs. `hosts`: of each plan. For a card that has stopped and whose dispatch
// tiles are held: reads some 5 KiB a tile, and of workers that are not idle, or on which a hart faulted, the kernels of
// the program that they began last. A tile that cannot be read is passed over.
//
// Only some of the counts that the tiles of a queue share can be found to be wrong: counts that the host itself wrote,
// words that are never written, and a wait for a notification that everything before it has sent.
std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               const CardSnapshot& card,
                                               std::span<const QueueState> hosts,
                                               const FirmwareSet& firmware, uint32_t boot_nonce,
                                               const KernelCache& kernels,
                                               const ProgramRegistry& programs);

}  // namespace ttfd
