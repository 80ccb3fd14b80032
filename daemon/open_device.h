// The daemon's card, from the text of --device: the one place that knows every backend.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/device/device.h"
#include "runtime/device/sim/sim_device.h"

namespace ttfd {

// Is `text` one of sim, sim:KEY=VALUE,... and ttsim:PATH? Opens nothing.
Status CheckDeviceText(std::string_view text);

// `debugging`: as for OpenSimDevice; a simulator library cannot be debugged.
StatusOr<std::unique_ptr<Device>> OpenDevice(std::string_view text, Debugging* debugging);

}  // namespace ttfd
