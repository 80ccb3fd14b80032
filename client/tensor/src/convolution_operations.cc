// Convolutions of the table: the patches of the images as rows of a matrix, times the weights.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/convolution_weights.h"
#include "client/tensor/src/operations.h"
#include "client/tensor/src/windows.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using Integers = std::vector<int64_t>;

constexpr size_t kImages = 0, kKernel = 1, kChannelBias = 2;  // inputs

struct Convolution {
  ImageShape images = {};
  Windows windows = {};
  ConvolutionWeights weights = {};
  DType dtype = DType::kBFloat16;
};

// Checks and returns the parts that calls of all convolutions have.
Result<Convolution> ConvolutionOf(const Call& call, const ImageShape& images,
                                  const ConvolutionWeights& weights) {
  const Result<DType> dtype = call.OutputType(kImages);
  if (!dtype.ok()) return dtype.status();
  const uint64_t inputs = uint64_t{weights.inputs} * weights.groups;
  const uint64_t outputs = uint64_t{weights.outputs} * weights.groups;
  if (inputs != images.channels || outputs > UINT32_MAX) {
    return call.InputError(kKernel, "with groups " + std::to_string(weights.groups) +
                                        " it must be for the " + std::to_string(images.channels) +
                                        " channels of x");
  }
  if (call.inputs() > kChannelBias) {
    const TensorSpec& bias = call.spec(kChannelBias);
    if (!IsRowOf(bias.shape, static_cast<uint32_t>(outputs)) || bias.layout != Layout::kTile ||
        bias.dtype == DType::kUInt32) {
      return call.InputError(kChannelBias,
                             "it must be one row of " + std::to_string(outputs) +
                                 " elements in layout tile, of bfloat16, float32 or bfp8");
    }
  }
  return Convolution{.images = images, .weights = weights, .dtype = *dtype};
}

// The same of images with the attributes of two directions.
Result<Convolution> ConvolutionOfImages(const Call& call, bool is_transposed) {
  const Result<ConvolutionWeights> weights = WeightsOf(call, kKernel, is_transposed);
  if (!weights.ok()) return weights.status();
  const Result<ImageShape> images = ImagesOf(call);
  if (!images.ok()) return images.status();
  Result<Convolution> convolution = ConvolutionOf(call, *images, *weights);
  if (!convolution.ok()) return convolution;
  for (const auto& [name, value] : {std::pair("in_channels", images->channels),
                                    {"out_channels", weights->outputs * weights->groups}}) {
    const int64_t given = call.attribute<int64_t>(name);
    if (given != 0 && given != int64_t{value}) {
      return call.Error(name, "is " + std::to_string(given) + "; by the shapes it must be " +
                                  std::to_string(value));
    }
  }
  return convolution;
}

// Whether each window is a pixel of the images, in their order.
bool IsPointwise(const Convolution& convolution) {
  const auto is_point = [](const WindowAxis& axis, uint32_t extent) {
    return axis.size == 1 && axis.stride == 1 && axis.extent == extent && axis.padded() == extent;
  };
  return convolution.weights.groups == 1 &&
         is_point(convolution.windows.down, convolution.images.height) &&
         is_point(convolution.windows.across, convolution.images.width);
}

Tensor PatchRows(const Composition& steps, const Tensor& x, const Convolution& convolution) {
  if (IsPointwise(convolution)) {
    const Tensor tiles = steps.Run("to_layout", {x}, {{"layout", std::string("tile")}});
    return steps.Reshape(tiles, convolution.images.flat());
  }
  const PaddedImages padded = PadImages(steps, Movable(steps, x), convolution.images,
                                        convolution.windows, convolution.weights.groups, 0);
  return PatchesOf(steps, padded, convolution.windows, convolution.weights.groups);
}

// Products of each group, [groups, windows, channels of a group], as [1, 1, windows, channels].
Tensor JoinGroups(const Composition& steps, const Tensor& products) {
  if (!products.ok()) return products;
  const uint32_t groups = products.shape()[0], rows = products.shape()[1],
                 columns = products.shape()[2];
  const std::vector<uint64_t> strides = StridesOf(products.shape());
  const MoveSource source = {
      .levels = {{0, rows, strides[1]}, {0, groups, strides[0]}, {0, columns, 1}}};
  return steps.Move({products}, {{1, 1, rows, groups * columns}, products.dtype()},
                    {.sizes = {rows, groups, columns}, .sources = {source}});
}

Outputs Convolve(const Call& call, const Composition& steps, const Tensor& x,
                 const Convolution& convolution, bool is_transposed) {
  const Result<ChainSteps> activation = ActivationOf(call);
  if (!activation.ok()) return activation.status();
  const bool has_bias = call.inputs() > kChannelBias, is_grouped = convolution.weights.groups != 1;
  const std::string dtype = DTypeName(convolution.dtype);
  const Attribute function = call.attribute<std::string>("activation");
  const Tensor& weight = call.input(kKernel);
  std::vector<Tensor> factors = {
      PatchRows(steps, x, convolution),
      convolution.weights.is_prepared
          ? weight
          : PrepareWeights(steps, weight, convolution.weights, is_transposed)};
  if (!is_grouped) {
    if (has_bias) factors.push_back(call.input(kChannelBias));
    return OutputOf(steps.Run(has_bias ? "linear" : "matmul", factors,
                              {{"transpose_b", true}, {"activation", function}, {"dtype", dtype}}));
  }
  const Tensor products = JoinGroups(
      steps,
      steps.Run("matmul", factors, {{"transpose_b", true}, {"dtype", std::string("float32")}}));
  if (!has_bias) return OutputOf(steps.Compute(products, *activation, convolution.dtype));
  return OutputOf(steps.Compute(ops::Combine::kAdd, {products, call.input(kChannelBias)},
                                *activation, convolution.dtype));
}

Outputs RunConv2d(const Call& call) {
  Result<Convolution> convolution = ConvolutionOfImages(call, false);
  if (!convolution.ok()) return convolution.status();
  const Result<Windows> windows =
      WindowsOf(call, convolution->images, convolution->weights.size, false);
  if (!windows.ok()) return windows.status();
  convolution->windows = *windows;
  return Convolve(call, Composition(call), call.input(kImages), *convolution, false);
}

// Images with `down` rows and `across` columns for each pixel, which is the first of them; the others are 0.
Tensor SpreadPixels(const Composition& steps, const Tensor& x, const ImageShape& images,
                    uint32_t down, uint32_t across) {
  const uint64_t row = uint64_t{images.width} * images.channels;
  const MoveSource source = {.levels = {{0, images.images * images.height, row},
                                        {0, 1, 0},
                                        {0, images.width, images.channels},
                                        {0, 1, 0},
                                        {0, images.channels, 1}}};
  if (!x.ok()) return x;
  return steps.Move(
      {x},
      {{images.images * images.height * down, images.width * across * images.channels},
       x.dtype(),
       Layout::kRowMajor},
      {.sizes = {images.images * images.height, down, images.width, across, images.channels},
       .sources = {source},
       .filling = ops::MoveFilling::kValue});
}

// A convolution of images that are spread by the stride, with the weights in opposite order.
Outputs RunConvTranspose2d(const Call& call) {
  Result<Convolution> convolution = ConvolutionOfImages(call, true);
  if (!convolution.ok()) return convolution.status();
  const auto more = PairAttribute(call, "output_padding", 0, 0);
  if (!more.ok()) return more.status();
  ImageShape& images = convolution->images;
  // The attributes as those of a convolution whose input is the output of this one.
  ImageShape unbounded = images;
  unbounded.height = unbounded.width = INT32_MAX / 4;
  const Result<Windows> given = WindowsOf(call, unbounded, convolution->weights.size, false);
  if (!given.ok()) return given.status();
  const uint32_t down = given->down.stride, across = given->across.stride;
  const auto spread = [&](WindowAxis axis, uint32_t extent, uint32_t output_padding) {
    const uint32_t reach = axis.span() - 1;
    axis.extent = (extent - 1) * axis.stride + 1;
    axis.stride = 1;
    axis.before = reach - axis.before;
    axis.after = reach - axis.after + output_padding;
    return axis;
  };
  convolution->windows = {spread(given->down, images.height, (*more)[0]),
                          spread(given->across, images.width, (*more)[1])};
  for (const auto& [axis, windows] : {std::pair(given->down, convolution->windows.down),
                                      {given->across, convolution->windows.across}}) {
    if (axis.before < axis.span() && axis.after < axis.span() && windows.padded() >= axis.span()) {
      continue;
    }
    return call.Error("padding", "is " + ListText(call.attribute<Integers>("padding")) +
                                     "; it must be below the extents of a window, and leave pixels "
                                     "of the output");
  }
  const Composition steps(call);
  const Tensor pixels =
      SpreadPixels(steps, Movable(steps, call.input(kImages)), images, down, across);
  images.height *= down;
  images.width *= across;
  return Convolve(call, steps, pixels, *convolution, true);
}

template <bool kTransposed>
Outputs RunPrepareWeights(const Call& call) {
  const Result<ConvolutionWeights> extents = RawWeightsOf(call, 0, kTransposed);
  if (!extents.ok()) return extents.status();
  return OutputOf(PrepareWeights(Composition(call), call.input(0), *extents, kTransposed));
}

// The windows of rows, by attributes of one direction.
Result<WindowAxis> RowWindows(const Call& call, uint32_t extent, uint32_t size) {
  const Result<uint32_t> stride = CountAttribute(call, "stride", 1);
  if (!stride.ok()) return stride.status();
  const Result<uint32_t> dilation = CountAttribute(call, "dilation", 1);
  if (!dilation.ok()) return dilation.status();
  const auto padding = PairAttribute(call, "padding", 0, 0);
  if (!padding.ok()) return padding.status();
  const WindowAxis axis = {extent, size, *stride, (*padding)[0], (*padding)[1], *dilation};
  const uint64_t padded = uint64_t{extent} + axis.before + axis.after;
  const uint64_t span = uint64_t{size - 1} * *dilation + 1;
  if (span <= padded && padded <= INT32_MAX) return axis;
  return call.InputError(kImages,
                         "with the padding its length must be at least that of a window, " +
                             std::to_string(span) + ", and below 2^31");
}

// Lengths as the widths of images of one row.
Outputs RunConv1d(const Call& call) {
  const TensorSpec &x = call.spec(kImages), &weight = call.spec(kKernel);
  if (x.shape.rank() != 3 || x.dtype == DType::kUInt32) {
    return call.InputError(kImages,
                           "it must be numbers of three extents: images, length, channels");
  }
  const Result<uint32_t> groups = CountAttribute(call, "groups", 1);
  if (!groups.ok()) return groups.status();
  if (weight.shape.rank() != 3 || weight.dtype == DType::kUInt32 ||
      weight.shape[0] % *groups != 0) {
    return call.InputError(kKernel,
                           "it must be numbers of three extents, the first of them a multiple of "
                           "groups, " +
                               std::to_string(*groups));
  }
  const Shape &of_x = x.shape, &of_weight = weight.shape;
  Result<Convolution> convolution =
      ConvolutionOf(call, {of_x[0], 1, of_x[1], of_x[2]},
                    {*groups, of_weight[0] / *groups, of_weight[1], {1, of_weight[2]}});
  if (!convolution.ok()) return convolution.status();
  const Result<WindowAxis> across = RowWindows(call, of_x[1], of_weight[2]);
  if (!across.ok()) return across.status();
  convolution->windows = {.across = *across};
  const Composition steps(call);
  Outputs flat = Convolve(call, steps, call.input(kImages), *convolution, false);
  if (!flat.ok()) return flat;
  return OutputOf(
      steps.Reshape(flat->front(), {of_x[0], across->count(), flat->front().shape().columns()}));
}

}  // namespace

void AddConvolutionOperations(std::vector<Operation>* operations) {
  const std::vector<OperationInfo::Argument> inputs = {{"x"}, {"weight"}, {"bias", true}};
  std::vector<OperationInfo::AttributeInfo> attributes = ImageAttributes();
  for (OperationInfo::AttributeInfo& attribute : WindowAttributes()) {
    attributes.push_back(std::move(attribute));
  }
  const OperationInfo::AttributeInfo groups = {"groups", int64_t{1}, "of channels"};
  for (const OperationInfo::AttributeInfo& attribute :
       {OperationInfo::AttributeInfo{"in_channels", int64_t{0}, "of x; 0: by its shape"},
        {"out_channels", int64_t{0}, "of the output; 0: by the shape of weight"},
        {"kernel_size", Integers(), "height and width of a window; empty: those of weight"},
        groups,
        ActivationAttribute(),
        DTypeAttribute()}) {
    attributes.push_back(attribute);
  }
  operations->push_back({{"conv2d", inputs, attributes,
                          "Convolution of images, [1, 1, windows, channels]; weight is [output "
                          "channels, input channels of a group, height, width], or prepared."},
                         RunConv2d});
  attributes.push_back({"output_padding", Integers(), "more height and width of the output"});
  operations->push_back({{"conv_transpose2d", inputs, attributes,
                          "Transposed convolution of images, [1, 1, pixels, channels]; weight is "
                          "[input channels, output channels of a group, height, width]."},
                         RunConvTranspose2d});
  operations->push_back(
      {{"prepare_conv2d_weights",
        {{"weight"}},
        {groups},
        "Weights of conv2d as [groups, output channels, elements of a window]: conv2d takes them "
        "with the attribute kernel_size, and does not move them again."},
       RunPrepareWeights<false>});
  operations->push_back({{"prepare_conv_transpose2d_weights",
                          {{"weight"}},
                          {groups},
                          "The same of weights of conv_transpose2d."},
                         RunPrepareWeights<true>});
  operations->push_back({{"conv1d",
                          inputs,
                          {{"stride", int64_t{1}, "from window to window"},
                           {"padding", Integers(), "before and after x"},
                           {"dilation", int64_t{1}, "from element to element of a window"},
                           groups,
                           ActivationAttribute(),
                           DTypeAttribute()},
                          "Convolution of [images, length, channels]; weight is [output channels, "
                          "input channels of a group, length]."},
                         RunConv1d});
}

}  // namespace ttfd::tensor
