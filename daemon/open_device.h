// The daemon's cards, from the texts of --device: the one place that opens every backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/kmd/system.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/fabric/discovery.h"

namespace ttfd {

// Is `text` one of auto, kmd:NODE, kmd:PCI_ADDRESS, sim, sim:KEY=VALUE,... and ttsim:PATH? Opens no device.
Status CheckDeviceText(std::string_view text);

struct DeviceChoice {
  std::string text;    // not "auto"
  std::string reason;  // for the log; empty: it was named, not chosen
};

// In place of "auto": the node with the lowest number in /dev/tenstorrent; without one, the first Blackhole card on the
// PCI bus, whose opening says why it has no node; without one, the device model. Any other text is its own choice.
DeviceChoice ChooseDevice(std::string_view text, kmd::Files& files);

inline constexpr size_t kMostDevices = 64;

// Devices of a daemon: those with ports in the order of the texts, then the chips behind links of these.
struct OpenedDevices {
  std::vector<std::shared_ptr<Device>> devices;
  // By device: the index of the neighbour through which it is reached; none: it has a port.
  std::vector<std::optional<uint32_t>> behind;
  size_t debugged = 0;  // index of the device that has the debugger, if there is one
};

// `texts` are those of choices. `system`: through which a card is reached. `host_bytes`: of host memory, which a card
// needs to have pinned. `debugging`: as for OpenSimDevice; one of the texts may have a debugger.
// `remote_chips`: of other hosts that may be driven (FindRemoteChips). INVALID_ARGUMENT: more than kMostDevices.
StatusOr<OpenedDevices> OpenDevices(std::span<const std::string> texts, const kmd::System& system,
                                    uint64_t host_bytes, std::span<const ChipId> remote_chips,
                                    Debugging* debugging);

}  // namespace ttfd
