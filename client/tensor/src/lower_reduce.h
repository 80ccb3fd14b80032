// Reductions of rows and of columns as launches.
#pragma once

#include "client/tensor/src/lowering.h"
#include "firmware/ops/words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

struct ReduceOperation {
  ops::Pool pool = ops::Pool::kSum;
  bool to_row = false;   // columns are reduced, the second-last extent; else rows, the last extent
  bool is_mean = false;  // the sum, divided by the extent
};

// `input` is a tensor of tiles. `output` has its shape, but for the extent that is reduced, which is 1.
Lowering LowerReduce(const ReduceOperation& operation, const TensorSpec& input,
                     const TensorSpec& output, const CardLimits& limits);

}  // namespace ttfd::tensor
