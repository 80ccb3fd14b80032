// The daemon's card, from the text of --device: the one place that knows every backend.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/device/device.h"
#include "runtime/device/kmd/system.h"
#include "runtime/device/sim/sim_device.h"

namespace ttfd {

// Is `text` one of kmd:NODE, kmd:PCI_ADDRESS, sim, sim:KEY=VALUE,... and ttsim:PATH? Opens nothing.
Status CheckDeviceText(std::string_view text);

// `system`: through which a card is reached. `host_bytes`: of host memory, which a card needs to have pinned.
// `debugging`: as for OpenSimDevice; nothing else can be debugged.
StatusOr<std::unique_ptr<Device>> OpenDevice(std::string_view text, const kmd::System& system,
                                             uint64_t host_bytes, Debugging* debugging);

}  // namespace ttfd
