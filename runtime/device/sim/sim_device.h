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
// bank; columns=X+X+...|none, the harvested Tensix columns; both default to what the board usually
// has. hazards=on|off|NAME+NAME+... (default off), what the silicon may do and the plain model forgives
// (runtime/sim/hazards.h): l0cache, stores, noc, streams, icache, localram, speed; seed=N (default 1)
// decides what they do.
StatusOr<SimOptions> ParseSimOptions(std::string_view text);

// The device, reset. `chip`, if not null, is where to look inside; it lives as long as the device.
StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options,
                                                sim::Chip** chip = nullptr);

}  // namespace ttfd
