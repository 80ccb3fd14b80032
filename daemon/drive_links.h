// Connects links between the opened devices.
#pragma once

#include "daemon/core/card_links.h"
#include "daemon/open_device.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Both outlive the result.
LinkDriver DriveLinks(const OpenedDevices& opened, Clock& clock);

}  // namespace ttfd
