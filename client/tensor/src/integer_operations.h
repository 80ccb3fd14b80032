// Operations on tensors of integers, which those of the same name call.
#pragma once

#include <cstdint>
#include <vector>

#include "client/tensor/src/call.h"
#include "firmware/ops/integers_words.h"

namespace ttfd::tensor {

// Whether all inputs are uint32.
bool AreIntegers(const Call& call);

// A function of two tensors of uint32, broadcast as NumPy does. The output is uint32, in the layout of the first.
Result<std::vector<Tensor>> RunIntegers(const Call& call, ops::Combine function);

// Elements of `x` as `dtype`, one of which is uint32: in the layout of x, and of bfp8 as bfloat16 in between.
Result<std::vector<Tensor>> ConvertIntegers(const Call& call, DType dtype);

}  // namespace ttfd::tensor
