// Elementwise operations: an item is a tile of the output.
#include "client/tensor/src/lower_eltwise.h"

#include <array>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {
namespace {

using InputLoops = Loops<ops::kMaxInputs>;

constexpr uint32_t kEltwisePages =
    2;  // of each circular buffer: one is filled while the other is used

// Part of a tile of `input` that stands for a tile of `output`.
ops::Broadcast BroadcastOf(const Shape& input, const Shape& output) {
  const bool row = input.rows() == 1 && output.rows() != 1;
  const bool column = input.columns() == 1 && output.columns() != 1;
  return static_cast<ops::Broadcast>((column ? 1 : 0) | (row ? 2 : 0));
}
static_assert(static_cast<int>(ops::Broadcast::kColumn) == 1);
static_assert(static_cast<int>(ops::Broadcast::kRow) == 2);
static_assert(static_cast<int>(ops::Broadcast::kScalar) == 3);

InputLoops LoopsOf(std::span<const TensorSpec> inputs, const TensorSpec& output) {
  std::vector<Shape> shapes;
  std::array<uint32_t, ops::kMaxInputs> matrix = {};
  std::array<uint32_t, ops::kMaxInputs> row = {};
  std::array<uint32_t, ops::kMaxInputs> column = {};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& input = inputs[i];
    shapes.push_back(input.shape);
    matrix[i] = input.tile_rows() * input.tile_columns();
    row[i] = input.tile_rows() == 1 ? 0 : input.tile_columns();
    column[i] = input.tile_columns() == 1 ? 0 : 1;
  }
  InputLoops loops;
  AddBatchLevels<ops::kMaxInputs>(output.shape, shapes, matrix, &loops);
  loops.Add(output.tile_rows(), row);
  loops.Add(output.tile_columns(), column);
  return loops;
}

}  // namespace

client::Result<Lowering> LowerEltwise(const EltwiseOperation& operation,
                                      std::span<const TensorSpec> inputs, const TensorSpec& output,
                                      const CardLimits& limits) {
  InputLoops loops = LoopsOf(inputs, output);
  if (!loops.PadTo(ops::kDimensions)) {
    return Invalid("shape", "more than " + std::to_string(ops::kDimensions) +
                                " groups of extents of " + output.shape.ToString() +
                                " are broadcast differently");
  }
  Lowering lowering = {.family = Family::kEltwise};
  ops::EltwiseReader reader = {};
  ops::EltwiseCompute compute = {};
  ops::TileWriter writer = {};
  reader.inputs = static_cast<uint32_t>(inputs.size());
  compute.combine = static_cast<uint32_t>(operation.combine);
  compute.chain = ChainWords(operation.chain, output.dtype);
  compute.padding = PaddingWords(output);
  writer.blocks = {1, 1, 1, 1};
  std::vector<KernelWords::Address> addresses;
  for (uint32_t d = 0; d < ops::kDimensions; ++d) reader.size[d] = loops.levels[d].size;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    for (uint32_t d = 0; d < ops::kDimensions; ++d) {
      reader.input[i].stride[d] = loops.levels[d].stride[i];
    }
    compute.broadcast |= static_cast<uint32_t>(BroadcastOf(inputs[i].shape, output.shape)) << 8 * i;
    lowering.circular_buffers.push_back({i, kEltwisePages, FormatOf(inputs[i].dtype)});
    addresses.push_back({static_cast<uint32_t>((offsetof(ops::EltwiseReader, input) +
                                                i * sizeof(ops::EltwiseReader::Input) +
                                                offsetof(ops::EltwiseReader::Input, address)) /
                                               sizeof(uint32_t)),
                         i});
  }
  lowering.circular_buffers.push_back({ops::kOutputBuffer, kEltwisePages, FormatOf(output.dtype)});
  lowering.kernels = {
      {WordsOf(reader), std::move(addresses)},
      {WordsOf(compute)},
      {WordsOf(writer),
       {{offsetof(ops::TileWriter, address) / sizeof(uint32_t), Lowering::kOutput}}}};
  Divide(output.tiles(), 1 + operation.chain.size(), limits, &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
