// Products of matrices: an item is a block of tiles of the output, all of which are in Dst together.
#include "client/tensor/src/lower_matmul.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {
namespace {

using FactorLoops = Loops<2>;

constexpr size_t kBatchLevels = 2;      // of MatmulReader
constexpr uint32_t kBufferedSteps = 4;  // of k, of tiles of a and b

struct Sizes {
  uint32_t batches;
  uint32_t rows;     // of tiles
  uint32_t columns;  // of tiles
  uint32_t k;        // tiles
};

// The block with which the busiest core has the fewest products; of equal ones the largest, which reads each tile of a
// and b least often.
ops::MatmulBlocks ChooseBlocks(const Sizes& sizes, uint32_t cores) {
  ops::MatmulBlocks best = {};
  auto least = std::tuple<uint64_t, uint32_t, uint32_t>(UINT64_MAX, 0, 0);
  for (uint32_t rows = 1; rows <= ops::kDstTiles; ++rows) {
    for (uint32_t columns = 1; rows * columns <= ops::kDstTiles; ++columns) {
      if (sizes.rows % rows != 0 || sizes.columns % columns != 0) continue;
      const ops::MatmulBlocks blocks = {rows, columns, sizes.rows / rows, sizes.columns / columns};
      const uint64_t items = uint64_t{sizes.batches} * blocks.row_blocks * blocks.column_blocks;
      const uint64_t busiest = (items + cores - 1) / cores * rows * columns;
      const auto cost = std::tuple(busiest, ops::kDstTiles - rows * columns, rows + columns);
      if (cost < least) {
        least = cost;
        best = blocks;
      }
    }
  }
  return best;
}

std::vector<uint32_t> ComputeWords(const MatmulOperation& operation,
                                   const ops::MatmulReader& reader, const TensorSpec& output) {
  ops::MatmulCompute compute = {};
  compute.blocks = reader.blocks;
  compute.k_tiles = reader.k_tiles;
  compute.has_bias = reader.has_bias;
  compute.transpose_b = operation.transpose_b;
  compute.fidelity = operation.fidelity;
  compute.chain = ChainWords(operation.chain, output.dtype);
  compute.padding = PaddingWords(output);
  return WordsOf(compute);
}

}  // namespace

client::Result<Lowering> LowerMatmul(const MatmulOperation& operation, const TensorSpec& a,
                                     const TensorSpec& b, const TensorSpec* bias,
                                     const TensorSpec& output, const CardLimits& limits) {
  const Shape factors[] = {a.shape, b.shape};
  FactorLoops loops;
  AddBatchLevels<2>(output.shape, factors,
                    {a.tile_rows() * a.tile_columns(), b.tile_rows() * b.tile_columns()}, &loops);
  Sizes sizes = {.batches = static_cast<uint32_t>(output.shape.matrices()),
                 .rows = a.tile_rows(),
                 .columns = output.tile_columns(),
                 .k = a.tile_columns()};
  // One matrix b for matrices a that have no padding of rows between them: one high matrix.
  if (loops.levels.size() == 1 && loops.levels[0].stride[1] == 0 && a.shape.rows() % 32 == 0) {
    sizes.rows *= sizes.batches;
    sizes.batches = 1;
    loops.levels.clear();
  }
  if (!loops.PadTo(kBatchLevels)) {
    return Invalid("shape", "more than " + std::to_string(kBatchLevels) +
                                " groups of extents of the batch are broadcast differently: " +
                                a.shape.ToString() + " and " + b.shape.ToString());
  }
  const ops::MatmulBlocks blocks = ChooseBlocks(sizes, limits.cores);

  ops::MatmulReader reader = {};
  reader.blocks = blocks;
  reader.k_tiles = sizes.k;
  reader.inner_batches = loops.levels[1].size;
  reader.a = {0, loops.levels[0].stride[0], loops.levels[1].stride[0], a.tile_columns(), 1};
  reader.b = {0, loops.levels[0].stride[1], loops.levels[1].stride[1], b.tile_columns(), 1};
  if (operation.transpose_b) std::swap(reader.b.row_stride, reader.b.column_stride);
  reader.has_bias = bias != nullptr;
  ops::TileWriter writer = {};
  writer.blocks = blocks;

  Lowering lowering = {.family = Family::kMatmul};
  lowering.circular_buffers = {
      {0, kBufferedSteps * blocks.block_rows, FormatOf(a.dtype)},
      {1, kBufferedSteps * blocks.block_columns, FormatOf(b.dtype)},
      {ops::kOutputBuffer, 2 * blocks.block_rows * blocks.block_columns, FormatOf(output.dtype)}};
  KernelWords reading = {
      WordsOf(reader),
      {{WordOf(offsetof(ops::MatmulReader, a)), 0}, {WordOf(offsetof(ops::MatmulReader, b)), 1}}};
  if (bias != nullptr) {
    lowering.circular_buffers.insert(lowering.circular_buffers.begin() + 2,
                                     {2, blocks.block_columns, FormatOf(bias->dtype)});
    reading.addresses.push_back({WordOf(offsetof(ops::MatmulReader, bias_address)), 2});
  }
  lowering.kernels = {
      std::move(reading),
      {ComputeWords(operation, reader, output)},
      {WordsOf(writer), {{WordOf(offsetof(ops::TileWriter, address)), Lowering::kOutput}}}};
  Divide(uint64_t{sizes.batches} * blocks.row_blocks * blocks.column_blocks,
         uint64_t{blocks.block_rows} * blocks.block_columns * sizes.k, limits, &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
