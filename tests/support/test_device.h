// The device a test runs on: the embedded one, unless the environment names something more hostile.
//
//   TTFD_TEST_SIM=hazards=on,seed=3    more options for every embedded device that tests open
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/sim/sim_device.h"

namespace ttfd {

// `text`, as for ParseSimOptions, and what the environment adds to it.
inline std::string TestDeviceText(std::string_view text) {
  std::string result(text);
  if (const char* const more = std::getenv("TTFD_TEST_SIM"); more != nullptr && *more != 0) {
    result += text.find(':') == std::string_view::npos ? ":" : ",";
    result += more;
  }
  return result;
}

inline StatusOr<SimOptions> TestSimOptions(std::string_view text) {
  return ParseSimOptions(TestDeviceText(text));
}

// `chip`, if not null, is where to look inside.
inline StatusOr<std::unique_ptr<Device>> OpenTestDevice(std::string_view text,
                                                        sim::Chip** chip = nullptr) {
  ASSIGN_OR_RETURN(const SimOptions options, TestSimOptions(text));
  return OpenSimDevice(options, chip);
}

}  // namespace ttfd
