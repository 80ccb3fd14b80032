// Weights of convolutions as moves of elements.
#include "client/tensor/src/convolution_weights.h"

#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/windows.h"

namespace ttfd::tensor {
namespace {

// An extent of the weights in opposite order: each of its elements is a source. `outer` elements before the extent,
// `inner` after it.
Tensor ReverseExtent(const Composition& steps, const Tensor& x, uint32_t outer, uint32_t extent,
                     uint32_t inner) {
  if (!x.ok() || extent == 1) return x;
  MoveOperation operation = {.sizes = {outer, extent, inner}};
  for (uint32_t i = 0; i < extent; ++i) {
    operation.sources.push_back(
        {.offset = uint64_t{extent - 1 - i} * inner,
         .levels = {{0, outer, uint64_t{extent} * inner}, {i, i + 1, 0}, {0, inner, 1}}});
  }
  return steps.Move({x}, {x.shape(), x.dtype(), Layout::kRowMajor}, operation);
}

}  // namespace

Result<ConvolutionWeights> RawWeightsOf(const Call& call, size_t i, bool is_transposed) {
  const TensorSpec& weight = call.spec(i);
  const Result<uint32_t> groups = CountAttribute(call, "groups", 1);
  if (!groups.ok()) return groups.status();
  if (weight.shape.rank() != 4 || weight.dtype == DType::kUInt32 ||
      weight.shape[0] % *groups != 0) {
    return call.InputError(
        i, "it must be numbers of four extents, the first of them a multiple of groups, " +
               std::to_string(*groups));
  }
  ConvolutionWeights extents = {
      *groups, weight.shape[0] / *groups, weight.shape[1], {weight.shape[2], weight.shape[3]}};
  if (!is_transposed) return extents;
  std::swap(extents.outputs, extents.inputs);
  if (extents.size[0] <= ops::kMaxMoveSources && extents.size[1] <= ops::kMaxMoveSources) {
    return extents;
  }
  return call.InputError(
      i, "its height and width must be at most " + std::to_string(ops::kMaxMoveSources));
}

Result<ConvolutionWeights> WeightsOf(const Call& call, size_t i, bool is_transposed) {
  const auto& given = call.attribute<std::vector<int64_t>>("kernel_size");
  const auto size = PairAttribute(call, "kernel_size", 1, 1);
  if (!size.ok()) return size.status();
  const TensorSpec& weight = call.spec(i);
  if (weight.shape.rank() != 3 || weight.dtype == DType::kUInt32) {
    Result<ConvolutionWeights> raw = RawWeightsOf(call, i, is_transposed);
    if (!raw.ok() || given.empty() || *size == raw->size) return raw;
    return call.Error("kernel_size", "is " + ListText(given) + "; it must be that of weight, " +
                                         weight.shape.ToString());
  }
  const Result<uint32_t> groups = CountAttribute(call, "groups", 1);
  if (!groups.ok()) return groups.status();
  const uint64_t pixels = uint64_t{(*size)[0]} * (*size)[1];
  if (given.empty() || weight.shape[0] != *groups || weight.layout != Layout::kTile ||
      weight.shape[2] % pixels != 0) {
    return call.InputError(i,
                           "prepared weights must be [groups, output channels, elements of a "
                           "window], in layout tile and with kernel_size");
  }
  return ConvolutionWeights{*groups, weight.shape[1],
                            static_cast<uint32_t>(weight.shape[2] / pixels), *size, true};
}

Tensor PrepareWeights(const Composition& steps, const Tensor& weight,
                      const ConvolutionWeights& extents, bool is_transposed) {
  Tensor x = Movable(steps, weight);
  const auto [height, width] = extents.size;
  const uint32_t groups = extents.groups, outputs = extents.outputs, inputs = extents.inputs;
  const uint64_t pixels = uint64_t{height} * width;
  if (is_transposed) {
    const uint32_t channels = groups * outputs * inputs;
    x = ReverseExtent(steps, x, channels * height, width, 1);
    x = ReverseExtent(steps, x, channels, height, width);
  }
  if (!x.ok()) return x;
  const MoveSource source = {.levels = {{0, groups, uint64_t{outputs} * inputs * pixels},
                                        {0, outputs, is_transposed ? pixels : inputs * pixels},
                                        {0, height, width},
                                        {0, width, 1},
                                        {0, inputs, is_transposed ? outputs * pixels : pixels}}};
  return steps.Move({x}, {extents.prepared(), x.dtype()},
                    {.sizes = {groups, outputs, height, width, inputs}, .sources = {source}});
}

}  // namespace ttfd::tensor
