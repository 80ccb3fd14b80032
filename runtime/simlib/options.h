// Options of the library's device from the environment.
#pragma once

#include "runtime/sim/options.h"

namespace ttfd::simlib {

// TTFD_SIM, as it may follow "sim:"; without it a p150.
StatusOr<sim::ChipOptions> OptionsFromEnvironment();

}  // namespace ttfd::simlib
