// The inner loops for hosts with AVX2.
#include "runtime/sim/tensix/lanes_sets.h"

#if TTFD_HAS_AVX
#define TTFD_LANES 8
#include "runtime/sim/tensix/lanes_simd.inc"

namespace ttfd::sim::tensix {

const LaneKernels kAvx2Lanes = {
    "avx2", DeriveSimd, MultiplyMatrixSimd, MultiplyElementsSimd, AddElementsSimd, MultiplyAddSimd};

}  // namespace ttfd::sim::tensix
#endif
