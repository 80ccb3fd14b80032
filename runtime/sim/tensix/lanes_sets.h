// The sets of inner loops that this build has.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/lanes.h"

#if defined(__x86_64__)
#define TTFD_HAS_AVX 1
#else
#define TTFD_HAS_AVX 0
#endif

namespace ttfd::sim::tensix {

extern const LaneKernels kPortableLanes;
extern const LaneKernels kAvx2Lanes;  // where TTFD_HAS_AVX
extern const LaneKernels kAvx512Lanes;

}  // namespace ttfd::sim::tensix
