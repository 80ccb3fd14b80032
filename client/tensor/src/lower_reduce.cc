// Reductions: an item is a tile of the output.
#include "client/tensor/src/lower_reduce.h"

#include <bit>

#include "client/tensor/src/chain.h"

namespace ttfd::tensor {
namespace {

constexpr uint32_t kScalerBuffer = 1, kMaximaBuffer = 4;  // of words.h
constexpr uint32_t kReducePages = 4;                      // of the input

float FactorOf(const ReduceOperation& operation, uint32_t extent) {
  if (operation.pool == ops::Pool::kMinimum) return -1;
  return operation.is_mean ? 1 / static_cast<float>(extent) : 1;
}

}  // namespace

Lowering LowerReduce(const ReduceOperation& operation, const TensorSpec& input,
                     const TensorSpec& output, const CardLimits& limits) {
  const uint32_t extent = operation.to_row ? input.shape.rows() : input.shape.columns();
  const bool is_sum = operation.pool == ops::Pool::kSum;
  ops::ReduceReader reader = {};
  reader.tiles = operation.to_row ? input.tile_rows() : input.tile_columns();
  reader.stride = operation.to_row ? input.tile_columns() : 1;
  ops::ReduceCompute compute = {};
  compute.tiles = reader.tiles;
  compute.pool = static_cast<uint32_t>(operation.pool);
  compute.to_row = operation.to_row;
  compute.last = (extent - 1) % 32 + 1;
  compute.factor = std::bit_cast<uint32_t>(FactorOf(operation, extent));
  compute.rounds = output.dtype == DType::kBfp8;
  compute.padding = PaddingWords(output);
  ops::TileWriter writer = {};
  writer.blocks = {1, 1, 1, 1};

  Lowering lowering = {.family = Family::kReduce};
  lowering.circular_buffers = {{0, kReducePages, FormatOf(input.dtype)},
                               {kScalerBuffer, 1, client::DataFormat::kFloat16B},
                               {ops::kOutputBuffer, 2, FormatOf(output.dtype)}};
  if (!is_sum) {
    lowering.circular_buffers.push_back({kMaximaBuffer, 1, client::DataFormat::kFloat32});
  }
  lowering.kernels = {
      {WordsOf(reader), {{WordOf(offsetof(ops::ReduceReader, address)), 0}}},
      {WordsOf(compute)},
      {WordsOf(writer), {{WordOf(offsetof(ops::TileWriter, address)), Lowering::kOutput}}}};
  Divide(output.tiles(), uint64_t{reader.tiles} * (is_sum ? 1 : 2), limits, &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
