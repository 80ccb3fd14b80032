// Chooses the inner loops for this host.
#pragma once

#include <string_view>

#include "runtime/base/status.h"
#include "runtime/sim/tensix/lanes.h"

namespace ttfd::sim::tensix {

// The kernels of an instruction set: "portable", "avx2" or "avx512"; "": the fastest that the host has.
// INVALID_ARGUMENT: another name, or the host does not have it.
StatusOr<const LaneKernels*> FindLaneKernels(std::string_view isa);

}  // namespace ttfd::sim::tensix
