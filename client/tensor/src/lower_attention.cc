// Attention: an item is a tile of rows of queries that see the keys of one head.
#include "client/tensor/src/lower_attention.h"

#include <algorithm>
#include <bit>
#include <numbers>
#include <utility>
#include <vector>

#include "client/tensor/src/chain.h"
#include "client/tensor/src/lower_move.h"

namespace ttfd::tensor {
namespace {

constexpr size_t kQueries = 0, kK = 1, kV = 2;  // inputs
// Circular buffers of attention_words.h.
constexpr uint32_t kKeyBuffer = 0, kValueBuffer = 1, kMaskBuffer = 2, kQueryBuffer = 4,
                   kWeightsBuffer = 5, kStatisticsBuffer = 6, kSumsBuffer = 7, kPlanBuffers = 8,
                   kIndexBuffer = 11;
constexpr uint64_t kStepProducts = 2;     // what a tile of keys costs, in products of two tiles,
constexpr uint64_t kWeightsProducts = 3;  // and its weights; products are those of eight rows

// Tile rows that part_rows rows lie in, at most, wherever parts begin.
uint32_t SlicesOf(uint32_t parts, uint32_t part_rows) {
  const bool is_aligned = parts == 1 || part_rows % 32 == 0 || 32 % part_rows == 0;
  return is_aligned ? (part_rows + 31) / 32 : (part_rows + 30) / 32 + 1;
}

ops::AttentionUnits UnitsOf(const AttentionOperation& operation,
                            std::span<const TensorSpec> inputs) {
  const TensorSpec &q = inputs[kQueries], &k = inputs[kK];
  const uint32_t rows = q.shape[2];
  const uint32_t parts = operation.is_decode ? k.shape[1] : 1;
  return {.parts = parts,
          .part_rows = rows / parts,
          .slices = SlicesOf(parts, rows / parts),
          .rows = rows,
          .tile_rows = q.tile_rows()};
}

ops::AttentionVisible VisibleOf(const AttentionOperation& operation, uint32_t keys) {
  ops::AttentionVisible visible = {
      .keys = keys, .by_row = 0, .back = ops::kAttentionAll, .ahead = ops::kAttentionAll};
  const uint32_t window = operation.sliding_window;
  visible.by_row = !operation.is_decode && (operation.is_causal || window != 0);
  if (window != 0) visible.back = operation.is_causal ? window - 1 : window / 2;
  if (operation.is_decode || operation.is_causal) {
    visible.ahead = 0;
  } else if (window != 0) {
    visible.ahead = window / 2;
  }
  return visible;
}

ops::AttentionSteps StepsOf(const AttentionOperation& operation, uint32_t value_tiles) {
  ops::AttentionSteps steps = {operation.mask ? 1 : ops::kAttentionTiles, ops::kAttentionTiles};
  while (value_tiles % steps.block != 0) --steps.block;
  return steps;
}

ops::MoveTensor IndicesOf(const TensorSpec& spec) {
  return {0, spec.layout == Layout::kTile, spec.shape.rows(), spec.shape.columns()};
}

ops::AttentionReader::Mask MaskOf(const AttentionOperation& operation,
                                  std::span<const TensorSpec> inputs) {
  if (!operation.mask) return {};
  const TensorSpec &q = inputs[kQueries], &mask = inputs[*operation.mask];
  const uint32_t matrix = mask.tile_rows() * mask.tile_columns();
  // Matrices of a decoding query are those of users; of others, those of users and heads.
  const bool has_users = mask.shape[0] != 1, has_heads = mask.shape[1] != 1;
  return {.is_used = 1,
          .address = 0,
          .inner_matrices = operation.is_decode ? 1 : q.shape[1],
          .outer_stride = has_users ? matrix * mask.shape[1] : 0,
          .inner_stride = has_heads ? matrix : 0,
          .row_stride = mask.shape[2] == 1 ? 0 : mask.tile_columns()};
}

KernelWords ReaderOf(const AttentionOperation& operation, std::span<const TensorSpec> inputs) {
  const TensorSpec &q = inputs[kQueries], &k = inputs[kK], &v = inputs[kV];
  ops::AttentionReader reader = {};
  reader.units = UnitsOf(operation, inputs);
  reader.visible = VisibleOf(operation, KeysOf(operation, inputs));
  reader.key_tiles = q.tile_columns();
  reader.value_tiles = v.tile_columns();
  reader.steps = StepsOf(operation, reader.value_tiles);
  reader.heads = k.shape[1];
  reader.group = operation.is_decode ? 1 : q.shape[1] / k.shape[1];
  reader.blocks.tiles = k.tile_rows();
  reader.blocks.count = k.shape[0];
  KernelWords words;
  const auto address = [&words](size_t offset, uint32_t input) {
    words.addresses.push_back({WordOf(offset), input});
  };
  address(offsetof(ops::AttentionReader, query_address), kQueries);
  address(offsetof(ops::AttentionReader, key_address), kK);
  address(offsetof(ops::AttentionReader, value_address), kV);
  if (operation.page_table) {
    reader.blocks.has_table = 1;
    reader.blocks.table = IndicesOf(inputs[*operation.page_table]);
    address(offsetof(ops::AttentionReader, blocks.table), *operation.page_table);
  }
  if (operation.positions) {
    const TensorSpec& positions = inputs[*operation.positions];
    reader.positions = positions.shape.elements() == 1 ? 1 : 2;
    reader.position = IndicesOf(positions);
    address(offsetof(ops::AttentionReader, position), *operation.positions);
  }
  if (operation.mask) {
    reader.mask = MaskOf(operation, inputs);
    address(offsetof(ops::AttentionReader, mask.address), *operation.mask);
  }
  words.words = WordsOf(reader);
  return words;
}

ops::AttentionCompute ComputeOf(const AttentionOperation& operation,
                                std::span<const TensorSpec> inputs, const TensorSpec& output) {
  ops::AttentionCompute compute = {};
  compute.units = UnitsOf(operation, inputs);
  compute.visible = VisibleOf(operation, KeysOf(operation, inputs));
  compute.key_tiles = inputs[kQueries].tile_columns();
  compute.value_tiles = inputs[kV].tile_columns();
  compute.steps = StepsOf(operation, compute.value_tiles);
  compute.scale = std::bit_cast<uint32_t>(operation.scale * std::numbers::log2e_v<float>);
  if (operation.mask) {
    const bool is_row = inputs[*operation.mask].shape[2] == 1;
    compute.mask =
        static_cast<uint32_t>(is_row ? ops::AttentionMask::kRow : ops::AttentionMask::kTile);
  }
  compute.padding = PaddingWords(output);
  return compute;
}

std::vector<CircularBufferUse> BuffersOf(const AttentionOperation& operation,
                                         std::span<const TensorSpec> inputs,
                                         const TensorSpec& output,
                                         const ops::AttentionSteps& steps) {
  constexpr client::DataFormat kExact = client::DataFormat::kFloat32;
  constexpr client::DataFormat kWords = client::DataFormat::kFloat16B;
  const TensorSpec &q = inputs[kQueries], &k = inputs[kK], &v = inputs[kV];
  std::vector<CircularBufferUse> buffers = {
      {kKeyBuffer, 2 * steps.tiles * k.tile_columns(), FormatOf(k.dtype)},
      {kValueBuffer, 2 * steps.tiles * v.tile_columns(), FormatOf(v.dtype)}};
  if (operation.mask) buffers.push_back({kMaskBuffer, 2, FormatOf(inputs[*operation.mask].dtype)});
  buffers.push_back({ops::kOutputBuffer, 2 * steps.block, FormatOf(output.dtype)});
  buffers.push_back({kQueryBuffer, 2 * q.tile_columns(), FormatOf(q.dtype)});
  buffers.push_back({kWeightsBuffer, steps.tiles, kExact});
  buffers.push_back({kStatisticsBuffer, 1, kExact});
  buffers.push_back({kSumsBuffer, v.tile_columns(), kExact});
  for (uint32_t i = 0; i < 3; ++i) buffers.push_back({kPlanBuffers + i, 2, kWords});
  if (operation.positions || operation.page_table) buffers.push_back({kIndexBuffer, 1, kWords});
  return buffers;
}

}  // namespace

uint32_t KeysOf(const AttentionOperation& operation, std::span<const TensorSpec> inputs) {
  const uint32_t rows = inputs[kK].shape[2];
  return operation.page_table ? rows * inputs[*operation.page_table].shape.columns() : rows;
}

Lowering LowerAttention(const AttentionOperation& operation, std::span<const TensorSpec> inputs,
                        const TensorSpec& output, const CardLimits& limits) {
  const ops::AttentionCompute compute = ComputeOf(operation, inputs, output);
  ops::AttentionWriter writer = {};
  writer.units = compute.units;
  writer.tiles = compute.value_tiles;
  Lowering lowering = {.family = Family::kAttention};
  lowering.circular_buffers = BuffersOf(operation, inputs, output, compute.steps);
  lowering.kernels = {
      ReaderOf(operation, inputs),
      {WordsOf(compute)},
      {WordsOf(writer), {{WordOf(offsetof(ops::AttentionWriter, address)), Lowering::kOutput}}}};
  const uint64_t tiles = (uint64_t{compute.visible.keys} + 31) / 32;
  const uint64_t eights = (std::min(compute.units.part_rows, 32u) + 7) / 8;
  const uint64_t products = compute.key_tiles + compute.value_tiles + kWeightsProducts;
  Divide(uint64_t{inputs[kQueries].shape[0]} * inputs[kQueries].shape[1] * compute.units.parts *
             compute.units.slices,
         tiles * (kStepProducts + (products * eights + 3) / 4), limits, &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
