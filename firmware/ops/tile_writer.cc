// Writes the blocks of tiles of an operation, row by row. BRISC, words TileWriter, of every family.
#include <ttfd/kernel.h>

#include "firmware/ops/cores.h"
#include "firmware/ops/write_page.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

void kernel_main() {
  const auto& words = CommonArguments<TileWriter>();
  const MatmulBlocks blocks = words.blocks;
  const uint32_t row_tiles = blocks.column_blocks * blocks.block_columns;
  CircularBuffer pages(kOutputBuffer);
  const InterleavedBuffer tiles(words.address, pages.page_bytes());
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    const uint32_t row = item / blocks.column_blocks;  // of blocks, of all matrices
    uint32_t first = row * blocks.block_rows * row_tiles +
                     (item - row * blocks.column_blocks) * blocks.block_columns;
    for (uint32_t i = 0; i != blocks.block_rows; ++i, first += row_tiles) {
      for (uint32_t j = 0; j != blocks.block_columns; ++j) {
        WritePage(pages,
                  [&](uint32_t from) { Write(from, tiles.Page(first + j), pages.page_bytes()); });
      }
    }
  }
}
