// The inner loops for hosts with AVX-512.
#include "runtime/sim/tensix/lanes_sets.h"

#if TTFD_HAS_AVX
#define TTFD_LANES 16
#include "runtime/sim/tensix/lanes_simd.inc"

namespace ttfd::sim::tensix {

const LaneKernels kAvx512Lanes = {"avx512",           DeriveSimd,
                                  MultiplyMatrixSimd, MultiplyElementsSimd,
                                  AddElementsSimd,    MultiplyAddSimd};

}  // namespace ttfd::sim::tensix
#endif
