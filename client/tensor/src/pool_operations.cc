// Operations of the table that pool, scale and normalize images.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/operations.h"
#include "client/tensor/src/windows.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using Integers = std::vector<int64_t>;
using ops::Combine;
using ops::Unary;

struct Pooling {
  ImageShape images = {};
  Windows windows = {};
  DType dtype = DType::kBFloat16;
};

Result<Pooling> PoolingOf(const Call& call) {
  const Result<ImageShape> images = ImagesOf(call);
  if (!images.ok()) return images.status();
  const auto size = PairAttribute(call, "kernel_size", 1, 1);
  if (!size.ok()) return size.status();
  const Result<Windows> windows =
      WindowsOf(call, *images, *size, call.attribute<bool>("ceil_mode"));
  if (!windows.ok()) return windows.status();
  for (const WindowAxis& axis : {windows->down, windows->across}) {
    if (2 * std::max(axis.before, axis.after) <= axis.span()) continue;
    return call.Error("padding", "is " + ListText(call.attribute<Integers>("padding")) +
                                     "; it must be at most half of a window");
  }
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  return Pooling{*images, *windows, *dtype};
}

// All pixels of each window combined, in float32.
Tensor CombinePixels(const Composition& steps, const PaddedImages& padded, const Windows& windows,
                     Combine combine) {
  Tensor result = steps.Compute(PixelsOf(steps, padded, windows, 0, 0), {});
  for (uint32_t i = 1; i < windows.down.size * windows.across.size; ++i) {
    const Tensor pixels =
        PixelsOf(steps, padded, windows, i / windows.across.size, i % windows.across.size);
    result = steps.Compute(combine, {result, pixels});
  }
  return result;
}

Outputs RunMaxPool(const Call& call) {
  const Result<Pooling> pooling = PoolingOf(call);
  if (!pooling.ok()) return pooling.status();
  const Composition steps(call);
  const PaddedImages padded =
      PadImages(steps, Movable(steps, call.input(0)), pooling->images, pooling->windows, 1,
                -std::numeric_limits<float>::infinity());
  return OutputOf(steps.Compute(CombinePixels(steps, padded, pooling->windows, Combine::kMaximum),
                                {}, pooling->dtype));
}

// Ones for all pixels of the images, in one channel.
Tensor Ones(const Composition& steps, const Tensor& x, const ImageShape& images) {
  const Shape shape = {1, 1, images.images * images.height * images.width, 1};
  return steps.Move(
      {x}, {shape, DType::kBFloat16},
      {.sizes = ExtentsOf(shape), .filling = ops::MoveFilling::kValue, .value = 0x3F80});
}

// The padding of an axis as a part of its images.
WindowAxis WithPaddingInside(WindowAxis axis) {
  axis.extent = axis.padded();
  axis.before = axis.after = 0;
  return axis;
}

// Numbers of pixels of windows that are in the images, or in their padding, too. `ceil` windows may go beyond that.
Tensor PixelCounts(const Composition& steps, const Tensor& x, const Pooling& pooling,
                   bool with_padding) {
  ImageShape images = pooling.images;
  images.channels = 1;
  const uint32_t needed[] = {pooling.windows.down.needed(), pooling.windows.across.needed()};
  Windows windows = pooling.windows;
  if (with_padding) {
    images.height = windows.down.padded();
    images.width = windows.across.padded();
    windows = {WithPaddingInside(windows.down), WithPaddingInside(windows.across)};
  }
  // As high and wide as those of x: the same windows.
  const std::array<uint32_t, 2> counts = {pooling.windows.down.count(),
                                          pooling.windows.across.count()};
  windows.down.after += needed[0] - windows.down.padded();
  windows.across.after += needed[1] - windows.across.padded();
  windows.down.ceil = windows.across.ceil = false;
  if (windows.down.count() != counts[0] || windows.across.count() != counts[1]) {
    return Status(Code::kInternal, "windows of counts are others");
  }
  const PaddedImages padded = PadImages(steps, Ones(steps, x, images), images, windows, 1, 0);
  return CombinePixels(steps, padded, windows, Combine::kAdd);
}

Outputs RunAvgPool(const Call& call) {
  const Result<Pooling> pooling = PoolingOf(call);
  if (!pooling.ok()) return pooling.status();
  const bool with_padding = call.attribute<bool>("count_include_pad");
  const Windows& windows = pooling->windows;
  bool is_uniform = true;
  for (const WindowAxis& axis : {windows.down, windows.across}) {
    const uint32_t counted = with_padding ? axis.padded() : axis.extent;
    is_uniform &= axis.needed() == counted;
  }
  const Composition steps(call);
  const Tensor x = Movable(steps, call.input(0));
  const PaddedImages padded = PadImages(steps, x, pooling->images, windows, 1, 0);
  const Tensor sums = CombinePixels(steps, padded, windows, Combine::kAdd);
  if (is_uniform) {
    const auto pixels = static_cast<float>(windows.down.size * windows.across.size);
    return OutputOf(steps.Compute(sums, {{Unary::kMultiplyScalar, 1 / pixels}}, pooling->dtype));
  }
  if (!x.ok()) return x.status();
  return OutputOf(steps.Compute(
      Combine::kDivide, {sums, PixelCounts(steps, x, *pooling, with_padding)}, {}, pooling->dtype));
}

Outputs RunGlobalAvgPool(const Call& call) {
  if (call.spec(0).shape.rank() != 4) {
    return call.InputError(0, "it must have four extents: images, height, width, channels");
  }
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  if (const Result<DType> dtype = call.OutputType(0); !dtype.ok()) return dtype.status();
  return OutputOf(Composition(call).Run("mean", {call.input(0)},
                                        {{"dims", Integers{1, 2}},
                                         {"keepdim", true},
                                         {"dtype", call.attribute<std::string>("dtype")}}));
}

Outputs RunUpsample(const Call& call) {
  const TensorSpec& x = call.spec(0);
  if (x.shape.rank() != 4) {
    return call.InputError(0, "it must have four extents: images, height, width, channels");
  }
  const auto scale = PairAttribute(call, "scale_factor", 1, 1);
  if (!scale.ok()) return scale.status();
  const uint32_t images = x.shape[0], height = x.shape[1], width = x.shape[2],
                 channels = x.shape[3];
  const auto [down, across] = *scale;
  if (uint64_t{height} * down > UINT32_MAX || uint64_t{width} * across > UINT32_MAX) {
    return call.Error("scale_factor", "is " + ListText(call.attribute<Integers>("scale_factor")) +
                                          "; the output's extents must be below 2^32");
  }
  const std::vector<uint64_t> strides = StridesOf(x.shape);
  const MoveSource source = {.levels = {{0, images, strides[0]},
                                        {0, height, strides[1]},
                                        {0, down, 0},
                                        {0, width, strides[2]},
                                        {0, across, 0},
                                        {0, channels, 1}}};
  const TensorSpec output = {{images, height * down, width * across, channels}, x.dtype, x.layout};
  return call.Run(output, LowerMove({.sizes = {images, height, down, width, across, channels},
                                     .sources = {source}},
                                    call.specs(), output, call.limits()));
}

// (x - mean) / sqrt(variance + epsilon) * weight + bias.
Outputs RunBatchNorm(const Call& call) {
  constexpr size_t kMean = 1, kVariance = 2, kScale = 3, kOffset = 4;  // inputs
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  const double epsilon = call.attribute<double>("epsilon");
  if (!(epsilon >= 0)) {
    return call.Error("epsilon", "is " + std::to_string(epsilon) + "; it must be at least 0");
  }
  const Shape& x = call.spec(0).shape;
  const uint32_t channels = x.rank() == 4 ? x[1] : 0;
  for (size_t i = kMean; i < call.inputs(); ++i) {
    if (channels != 0 && call.spec(i).shape == Shape{1, channels, 1, 1}) continue;
    return call.InputError(i,
                           "it must be [1, channels, 1, 1], with those of x, [images, channels, "
                           "height, width], which is " +
                               x.ToString());
  }
  const Composition steps(call);
  Tensor factor = steps.Compute(
      call.input(kVariance), {{Unary::kAddScalar, static_cast<float>(epsilon)}, {Unary::kRsqrt}});
  if (call.inputs() > kScale) {
    factor = steps.Compute(Combine::kMultiply, {factor, call.input(kScale)});
  }
  const Tensor centered = steps.Compute(Combine::kSubtract, {call.input(0), call.input(kMean)});
  if (call.inputs() <= kOffset) {
    return OutputOf(steps.Compute(Combine::kMultiply, {centered, factor}, {}, *dtype));
  }
  const Tensor scaled = steps.Compute(Combine::kMultiply, {centered, factor});
  return OutputOf(steps.Compute(Combine::kAdd, {scaled, call.input(kOffset)}, {}, *dtype));
}

}  // namespace

void AddPoolOperations(std::vector<Operation>* operations) {
  std::vector<OperationInfo::AttributeInfo> attributes = ImageAttributes();
  attributes.push_back({"kernel_size", Integers(), "height and width of a window; empty: 1"});
  for (OperationInfo::AttributeInfo& attribute : WindowAttributes()) {
    attributes.push_back(std::move(attribute));
  }
  attributes.push_back({"ceil_mode", false, "windows may end beyond the padding"});
  attributes.push_back(DTypeAttribute());
  operations->push_back({{"max_pool2d",
                          {{"x"}},
                          attributes,
                          "Greatest pixels of windows of images, [1, 1, windows, channels]."},
                         RunMaxPool});
  attributes.push_back({"count_include_pad", true, "the padding is pixels of 0, not no pixels"});
  operations->push_back({{"avg_pool2d",
                          {{"x"}},
                          attributes,
                          "Means of the pixels of windows of images, [1, 1, windows, channels]."},
                         RunAvgPool});
  operations->push_back({{"global_avg_pool2d",
                          {{"x"}},
                          {DTypeAttribute()},
                          "Means of the pixels of images, [images, 1, 1, channels]."},
                         RunGlobalAvgPool});
  operations->push_back({{"upsample",
                          {{"x"}},
                          {{"scale_factor", Integers(), "of height and width"}},
                          "Each pixel of images as several, [images, height, width, channels]."},
                         RunUpsample});
  operations->push_back({{"batch_norm_inference",
                          {{"x"}, {"mean"}, {"variance"}, {"weight", true}, {"bias", true}},
                          {{"epsilon", 1e-5, "is added to the variance"}, DTypeAttribute()},
                          "(x - mean) / sqrt(variance + epsilon) * weight + bias, by channels: of "
                          "images [images, channels, height, width]."},
                         RunBatchNorm});
}

}  // namespace ttfd::tensor
