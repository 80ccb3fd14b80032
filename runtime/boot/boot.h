// The path from reset to "ready": loads firmware into every worker and the dispatch tiles, releases
// the harts in a stated order, and waits for each one to say that it is up.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/device/device.h"
#include "runtime/device/wait.h"

namespace ttfd {

struct BootOptions {
  uint32_t nonce = 0;                // differs from boot to boot: an old "ready" is not believed
  Duration timeout{};                // of each wait
  uint64_t advance_clocks = 20'000;  // device time between two looks
};

// REQUIRES CheckFirmware and a device that was just reset, with plans made since. Idle tiles of the dispatch pool and
// harts that nothing runs on stay in reset. A failure names tile, hart, state, waypoint and, where the
// backend can tell, PC; the card is then in no usable state until the next boot.
// `plans`: one a hardware queue, for the same card.
Status BootCard(Device& device, Clock& clock, std::span<const BootPlan> plans,
                const FirmwareSet& firmware, const BootOptions& options, Tick tick);

}  // namespace ttfd
