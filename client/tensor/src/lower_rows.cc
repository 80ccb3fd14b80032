// Operations on whole rows: an item is a row of tiles.
#include "client/tensor/src/lower_rows.h"

#include <bit>
#include <utility>
#include <vector>

#include "client/tensor/src/chain.h"

namespace ttfd::tensor {
namespace {

// Circular buffers of words.h.
constexpr uint32_t kWeightBuffer = 1, kBiasBuffer = 2, kShift = 4, kFactor = 5, kTerms = 6;
constexpr uint32_t kRowsPages = 2;     // of weight, bias and output
constexpr uint64_t kTileProducts = 6;  // that a tile of a row costs, in products of two tiles

}  // namespace

Lowering LowerRows(const RowsOperation& operation, const TensorSpec& input,
                   const TensorSpec* weight, const TensorSpec* bias, const TensorSpec& output,
                   const CardLimits& limits) {
  constexpr client::DataFormat kExact = client::DataFormat::kFloat32;
  const uint32_t tiles = input.tile_columns();
  const bool is_softmax = operation.function == ops::RowsFunction::kSoftmax;
  ops::RowsReader reader = {};
  reader.tiles = tiles;
  reader.has_weight = weight != nullptr;
  reader.has_bias = bias != nullptr;
  ops::RowsCompute compute = {};
  compute.tiles = tiles;
  compute.function = static_cast<uint32_t>(operation.function);
  compute.has_weight = reader.has_weight;
  compute.has_bias = reader.has_bias;
  compute.mean_factor = std::bit_cast<uint32_t>(1 / static_cast<float>(input.shape.columns()));
  compute.epsilon = std::bit_cast<uint32_t>(operation.epsilon);
  compute.rounds = output.dtype == DType::kBfp8;
  compute.padding = PaddingWords(output);
  ops::TileWriter writer = {};
  writer.blocks = {1, tiles, output.tiles() / tiles, 1};

  Lowering lowering = {.family = Family::kRows};
  std::vector<CircularBufferUse>& buffers = lowering.circular_buffers;
  buffers.push_back({0, 2 * tiles, FormatOf(input.dtype)});
  std::vector<KernelWords::Address> addresses = {{WordOf(offsetof(ops::RowsReader, address)), 0}};
  if (weight != nullptr) {
    buffers.push_back({kWeightBuffer, kRowsPages, FormatOf(weight->dtype)});
    addresses.push_back({WordOf(offsetof(ops::RowsReader, weight_address)), 1});
  }
  if (bias != nullptr) {
    buffers.push_back({kBiasBuffer, kRowsPages, FormatOf(bias->dtype)});
    addresses.push_back({WordOf(offsetof(ops::RowsReader, bias_address)), 2});
  }
  buffers.push_back({ops::kOutputBuffer, kRowsPages, FormatOf(output.dtype)});
  buffers.push_back({kShift, 1, kExact});
  buffers.push_back({kFactor, 1, kExact});
  if (is_softmax) buffers.push_back({kTerms, tiles, kExact});
  // The next row is read while one is computed, where there is space for both.
  if (!lowering.Check(limits).ok()) buffers[0].pages = tiles;
  lowering.kernels = {
      {WordsOf(reader), std::move(addresses)},
      {WordsOf(compute)},
      {WordsOf(writer), {{WordOf(offsetof(ops::TileWriter, address)), Lowering::kOutput}}}};
  Divide(output.tiles() / tiles, kTileProducts * tiles, limits, &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
