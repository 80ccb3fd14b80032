// Functions of each element, applied to tiles before they are rounded.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/ops/words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

struct ChainStep {
  ops::Unary code = ops::Unary::kNone;
  float operand = 0;
};
using ChainSteps = std::vector<ChainStep>;  // at most ops::kMaxChain - 1

// The words of the steps, and of the rounding that the packer does not do for `output`.
ops::Chain ChainWords(const ChainSteps& steps, DType output);

// The words of the padding of a tensor.
ops::Padding PaddingWords(const TensorSpec& output);

}  // namespace ttfd::tensor
