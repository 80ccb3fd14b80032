// Description of a card from the ARC's telemetry table.
#pragma once

#include "runtime/device/device.h"
#include "runtime/device/telemetry.h"

namespace ttfd {

// `arc` looks at the ARC tile. Fills everything of DeviceInfo but backend,
// memory_is_zero_after_power_on and iommu. A table without the harvesting tags means that nothing is
// harvested, one without the tag of Ethernet tiles that there are none. FAILED_PRECONDITION: the card is not supported.
StatusOr<DeviceInfo> ReadCardInfo(const Telemetry& telemetry, Window& arc);

// FAILED_PRECONDITION: the harvesting tags are missing, which a card has to report and a simulator may leave out.
Status CheckReportsGrid(const Telemetry& telemetry);

}  // namespace ttfd
