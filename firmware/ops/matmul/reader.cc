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

// Tiles first, first + stride, ... into one buffer of the group.
void ReadTiles(ReadAhead& reads, uint32_t buffer, uint32_t address, uint32_t first, uint32_t stride,
               uint32_t count) {
  const InterleavedBuffer tiles(address, reads.page_bytes(buffer));
  for (; count != 0; --count, first += stride) reads.Read(buffer, tiles.Page(first));
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
  uint32_t pages[kMaxInputs] = {blocks.block_rows, blocks.block_columns,
                                words.has_bias != 0 ? blocks.block_columns : 0};
  for (uint32_t k = words.k_tiles; k != 0; --k) {
    reads.Begin(pages);
    if (pages[kBias] != 0) ReadTiles(reads, kBias, words.bias_address, column, 1, pages[kBias]);
    ReadTiles(reads, kA, words.a.address, a, words.a.row_stride, pages[kA]);
    ReadTiles(reads, kB, words.b.address, b, words.b.column_stride, pages[kB]);
    reads.End(pages);
    pages[kBias] = 0;
    a += words.a.column_stride;
    b += words.b.row_stride;
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<MatmulReader>();
  const Items items(words.cores);
  ReadAhead reads(words.has_bias != 0 ? 3 : 2);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    ReadBlock(words, reads, item);
  }
  reads.Finish();
}
