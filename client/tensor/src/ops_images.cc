// Operations on images as functions.
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/src/apply_to.h"
#include "ttfd/tensor/images.h"

namespace ttfd::tensor {
namespace {

template <size_t kNumbers>
std::vector<int64_t> ListOf(const std::array<uint32_t, kNumbers>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Attributes AttributesOf(const WindowOptions& options) {
  return {{"stride", ListOf(options.stride)},
          {"padding", ListOf(options.padding)},
          {"dilation", ListOf(options.dilation)}};
}

Attributes AttributesOf(const PoolOptions& options) {
  Attributes attributes = AttributesOf(options.windows);
  attributes.emplace("kernel_size", ListOf(options.kernel_size));
  attributes.emplace("ceil_mode", options.ceil_mode);
  return attributes;
}

Tensor Convolved(std::string_view name, const Tensor& x, const Tensor& weight, const Tensor* bias,
                 const ConvolutionOptions& options, Attributes attributes) {
  attributes.merge(AttributesOf(options.windows));
  attributes.emplace("groups", int64_t{options.groups});
  attributes.emplace("activation", options.activation);
  if (options.dtype) attributes.emplace("dtype", std::string(DTypeName(*options.dtype)));
  if (bias == nullptr) return ApplyTo(name, {x, weight}, attributes);
  return ApplyTo(name, {x, weight, *bias}, attributes);
}

}  // namespace

Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor* bias,
              const ConvolutionOptions& options) {
  return Convolved("conv2d", x, weight, bias, options, {});
}
Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor* bias,
                       const ConvolutionOptions& options) {
  return Convolved("conv_transpose2d", x, weight, bias, options,
                   {{"output_padding", ListOf(options.output_padding)}});
}

Tensor MaxPool2d(const Tensor& x, const PoolOptions& options) {
  return ApplyTo("max_pool2d", {x}, AttributesOf(options));
}
Tensor AvgPool2d(const Tensor& x, const PoolOptions& options) {
  Attributes attributes = AttributesOf(options);
  attributes.emplace("count_include_pad", options.count_include_pad);
  return ApplyTo("avg_pool2d", {x}, attributes);
}
Tensor GlobalAvgPool2d(const Tensor& x) { return ApplyTo("global_avg_pool2d", {x}); }

Tensor Upsample(const Tensor& x, const std::array<uint32_t, 2>& scale) {
  return ApplyTo("upsample", {x}, {{"scale_factor", ListOf(scale)}});
}

Tensor BatchNormInference(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          std::span<const Tensor> factors, float epsilon) {
  std::vector<Tensor> inputs = {x, mean, variance};
  inputs.insert(inputs.end(), factors.begin(), factors.end());
  return std::move(Apply("batch_norm_inference", inputs, {{"epsilon", double{epsilon}}}).front());
}

}  // namespace ttfd::tensor
