// Operations on whole rows as launches: softmax and normalizations.
#pragma once

#include "client/tensor/src/lowering.h"
#include "firmware/ops/words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

struct RowsOperation {
  ops::RowsFunction function = ops::RowsFunction::kSoftmax;
  float epsilon = 0;
};

// `input` and `output` are tensors of tiles of one shape, `weight` and `bias` (null: none) are one row of it. Where
// rows do not fit the circular buffers of a worker, Lowering::Check() says so.
Lowering LowerRows(const RowsOperation& operation, const TensorSpec& input,
                   const TensorSpec* weight, const TensorSpec* bias, const TensorSpec& output,
                   const CardLimits& limits);

}  // namespace ttfd::tensor
