// Operations on images: convolutions, pools, and what comes with them. The contract is that of <ttfd/tensor/ops.h>.
//
// Images are [images, height, width, channels]. Results of windows are [1, 1, windows, channels], the windows of an
// image row after row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

// Windows of images, in height and width.
struct WindowOptions {
  std::array<uint32_t, 2> stride = {1, 1};
  std::array<uint32_t, 4> padding = {};  // above, below, left, right
  std::array<uint32_t, 2> dilation = {1, 1};
};

struct ConvolutionOptions {
  WindowOptions windows = {};
  uint32_t groups = 1;
  std::array<uint32_t, 2> output_padding = {};  // of ConvTranspose2d
  std::string activation = {};                  // name of an operation of one tensor; empty: none
  std::optional<DType> dtype = {};              // of the output; unset: that of x
};
// `weight` is [output channels, input channels of a group, height, width], `bias` (null: none) a row of the output's
// channels.
Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor* bias = nullptr,
              const ConvolutionOptions& options = {});
// `weight` is [input channels, output channels of a group, height, width].
Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor* bias = nullptr,
                       const ConvolutionOptions& options = {});

struct PoolOptions {
  std::array<uint32_t, 2> kernel_size = {1, 1};
  WindowOptions windows = {};
  bool ceil_mode = false;         // windows may end beyond the padding
  bool count_include_pad = true;  // of AvgPool2d: the padding is pixels of 0, not no pixels
};
Tensor MaxPool2d(const Tensor& x, const PoolOptions& options);
Tensor AvgPool2d(const Tensor& x, const PoolOptions& options);
// [images, 1, 1, channels].
Tensor GlobalAvgPool2d(const Tensor& x);

// Each pixel as scale[0] x scale[1] pixels.
Tensor Upsample(const Tensor& x, const std::array<uint32_t, 2>& scale);

// (x - mean) / sqrt(variance + epsilon), and with `factors` * factors[0] + factors[1]. Here images are [images,
// channels, height, width], all others [1, channels, 1, 1].
Tensor BatchNormInference(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          std::span<const Tensor> factors = {}, float epsilon = 1e-5f);

}  // namespace ttfd::tensor
