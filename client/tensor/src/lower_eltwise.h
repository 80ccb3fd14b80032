// Elementwise operations as launches.
#pragma once

#include <span>

#include "client/tensor/src/chain.h"
#include "client/tensor/src/lowering.h"
#include "firmware/ops/words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

struct EltwiseOperation {
  ops::Combine combine = ops::Combine::kNone;
  ChainSteps chain = {};
};

// `inputs`, which match `output`, are one to three tensors of tiles. INVALID_ARGUMENT: they are broadcast along extents
// in more groups than the kernels have loops for.
client::Result<Lowering> LowerEltwise(const EltwiseOperation& operation,
                                      std::span<const TensorSpec> inputs, const TensorSpec& output,
                                      const CardLimits& limits);

}  // namespace ttfd::tensor
