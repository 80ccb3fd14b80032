// Weights of convolutions as factors of matrix products.
#pragma once

#include <array>
#include <cstdint>

#include "client/tensor/src/composition.h"

namespace ttfd::tensor {

// The extents of the weights of a convolution. Channels are those of a group.
struct ConvolutionWeights {
  uint32_t groups = 1;
  uint32_t outputs = 1;
  uint32_t inputs = 1;
  std::array<uint32_t, 2> size = {1, 1};  // height and width of a window
  bool is_prepared = false;

  uint32_t elements() const { return size[0] * size[1] * inputs; }  // of a window
  Shape prepared() const { return {groups, outputs, elements()}; }
};

// Input `i` of a call with the attribute `groups`: [output channels, input channels of a group, height, width], and of
// a transposed convolution [input channels, output channels of a group, height, width].
Result<ConvolutionWeights> RawWeightsOf(const Call& call, size_t i, bool is_transposed);
// The same, or prepared weights, of windows with the attribute `kernel_size`.
Result<ConvolutionWeights> WeightsOf(const Call& call, size_t i, bool is_transposed);

// Raw weights as [groups, output channels, elements of a window]. Those of a transposed convolution begin with their
// last pixel.
Tensor PrepareWeights(const Composition& steps, const Tensor& weight,
                      const ConvolutionWeights& extents, bool is_transposed);

}  // namespace ttfd::tensor
