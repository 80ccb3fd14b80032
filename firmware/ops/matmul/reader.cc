// Reads the tiles of the factors of a matrix product and of its bias, for each item and each k a column of tiles of a
// and a row of tiles of b. NCRISC, words MatmulReader.
#include "firmware/ops/cores.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kA = 0, kB = 1, kBias = 2;  // circular buffers

uint32_t FirstTile(const MatmulReader::Factor& factor, uint32_t outer, uint32_t inner) {
  return outer * factor.outer_stride + inner * factor.inner_stride;
}

void ReadBlock(const MatmulReader& words, ReadAhead& reads, uint32_t item) {
  const MatmulBlocks& blocks = words.blocks;
  const uint32_t rest = item / blocks.column_blocks;
  const uint32_t column = (item - rest * blocks.column_blocks) * blocks.block_columns;
  const uint32_t batch = rest / blocks.row_blocks;
  const uint32_t row = (rest - batch * blocks.row_blocks) * blocks.block_rows;
  const uint32_t outer = batch / words.inner_batches;
  const uint32_t inner = batch - outer * words.inner_batches;
  uint32_t a = FirstTile(words.a, outer, inner) + row * words.a.row_stride;
  uint32_t b = FirstTile(words.b, outer, inner) + column * words.b.column_stride;
  if (words.has_bias != 0) reads.SetTiles(kBias, blocks.block_columns);
  bool reads_bias = words.has_bias != 0;
  for (uint32_t k = words.k_tiles; k != 0; --k) {
    reads.Begin();
    for (uint32_t i = 0; reads_bias && i != blocks.block_columns; ++i) {
      reads.Read(kBias, column + i);
    }
    for (uint32_t i = 0; i != blocks.block_rows; ++i) reads.Read(kA, a + i * words.a.row_stride);
    for (uint32_t i = 0; i != blocks.block_columns; ++i) {
      reads.Read(kB, b + i * words.b.column_stride);
    }
    reads.End();
    reads_bias = false;
    reads.SetTiles(kBias, 0);
    a += words.a.column_stride;
    b += words.b.row_stride;
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<MatmulReader>();
  const Items items(words.cores);
  ReadAhead reads(0b011 | words.has_bias << kBias, words.a.address, words.b.address,
                  words.bias_address);
  reads.SetTiles(kA, words.blocks.block_rows);
  reads.SetTiles(kB, words.blocks.block_columns);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    ReadBlock(words, reads, item);
  }
  reads.Finish();
}
