// Products of matrices as launches.
#pragma once

#include <cstdint>

#include "client/tensor/src/chain.h"
#include "client/tensor/src/lowering.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

struct MatmulOperation {
  bool transpose_b = false;
  uint32_t fidelity = 4;
  ChainSteps chain = {};
};

// `a`, `b` and `bias` (null: none), which match `output`, are tensors of tiles. INVALID_ARGUMENT: the batch is
// broadcast along more groups of extents than the kernels have loops for.
client::Result<Lowering> LowerMatmul(const MatmulOperation& operation, const TensorSpec& a,
                                     const TensorSpec& b, const TensorSpec* bias,
                                     const TensorSpec& output, const CardLimits& limits);

}  // namespace ttfd::tensor
