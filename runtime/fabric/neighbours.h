// Links between the devices of a daemon, as their link firmware names them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/link_status.h"

namespace ttfd {

// One list for each device, by channel: the links that are up whose both ends name each other. Left out are those of
// devices whose ids are 0 or equal to another's. `behind`: the device through whose lowest link each is driven, which
// is a system link; none: it has a port.
std::vector<std::vector<Neighbour>> FindNeighbours(std::span<const std::shared_ptr<Device>> devices,
                                                   std::span<const std::optional<uint32_t>> behind);

}  // namespace ttfd
