// A KmdDevice over a stand-in for the driver over a chip of the embedded model, as one Device.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/device/device.h"
#include "tests/support/kmd_standin.h"

namespace ttfd {

// Driver and host as TTFD_TEST_DEVICE names them (test_device_text.h).
StandinOptions TestStandinOptions();
// `chip` is text of ParseSimOptions.
StatusOr<std::unique_ptr<KmdStandin>> MakeKmdStandin(std::string_view chip,
                                                     const StandinOptions& options = {});
// Fails the test if the device leaves a descriptor, a window or a pin behind.
StatusOr<std::unique_ptr<Device>> OpenKmdOnStandin(std::string_view chip);

}  // namespace ttfd
