// Opens the embedded device: the default backend, and the only one that needs no hardware.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/device/device.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/options.h"

namespace ttfd {

using SimOptions = sim::ChipOptions;

// "sim" or "sim:KEY=VALUE,...": board=p100a|p150 (default p150); bank=N|none, the harvested DRAM
// bank; columns=X+X+...|none, the harvested Tensix columns. Both default to what the board usually
// has.
StatusOr<SimOptions> ParseSimOptions(std::string_view text);

// The device, reset. `chip`, if not null, is where to look inside; it lives as long as the device.
StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options,
                                                const sim::Chip** chip = nullptr);

}  // namespace ttfd
