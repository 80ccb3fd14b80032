#include "runtime/simlib/options.h"

#include <cstdlib>
#include <string>

#include "runtime/device/sim/sim_device.h"

namespace ttfd::simlib {

StatusOr<sim::ChipOptions> OptionsFromEnvironment() {
  const char* const text = std::getenv("TTFD_SIM");
  return ParseSimOptions(text == nullptr || *text == 0 ? "sim" : std::string("sim:") + text);
}

}  // namespace ttfd::simlib
