// Computes a block of tiles of a matrix product for each item, in as many tiles of Dst. TRISC0, TRISC1 and TRISC2,
// words MatmulCompute.
#include <ttfd/compute.h>

#include "firmware/ops/chain.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/padding.h"

using namespace ttfd::compute;
using namespace ttfd::ops;
using ttfd::kernel::CommonArguments;
using ttfd::kernel::Optional;

namespace {

constexpr uint32_t kA = 0, kB = 1, kBias = 2;  // circular buffers

// The block becomes the bias. What follows has to be configured again.
void TakeBias(uint32_t rows, uint32_t columns) {
  const uint32_t bias = Optional(kBias);
  unary_bcast_init_short<BroadcastType::ROW>(bias);
  cb_wait_front(bias, columns);
  for (uint32_t dst = 0, row = 0; row != rows; ++row) {
    for (uint32_t column = 0; column != columns; ++column, ++dst) {
      unary_bcast<BroadcastType::ROW>(bias, column, dst);
    }
  }
  cb_pop_front(bias, columns);
}

void AddProducts(uint32_t k_tiles, uint32_t rows, uint32_t columns, uint32_t phases) {
  for (uint32_t k = 0; k != k_tiles; ++k) {
    cb_wait_front(kA, rows);
    cb_wait_front(kB, columns);
    for (uint32_t dst = 0, row = 0; row != rows; ++row) {
      for (uint32_t column = 0; column != columns; ++column, ++dst) {
        matmul_tiles(kA, kB, row, column, dst, phases);
      }
    }
    cb_pop_front(kA, rows);
    cb_pop_front(kB, columns);
  }
}

// TRISC1: the chain and the padding.
void FinishBlock(const MatmulCompute& words, uint32_t item) {
  const MatmulBlocks& blocks = words.blocks;
  const bool has_padding = HasPadding(words.padding);
  const uint32_t rest = item / blocks.column_blocks;
  const uint32_t first_column = (item - rest * blocks.column_blocks) * blocks.block_columns;
  const uint32_t first_row = rest % blocks.row_blocks * blocks.block_rows;
  for (uint32_t dst = 0, row = 0; row != blocks.block_rows; ++row) {
    for (uint32_t column = 0; column != blocks.block_columns; ++column, ++dst) {
      ApplyChain(words.chain, dst);
      if (has_padding) ClearPadding(words.padding, first_row + row, first_column + column, dst);
    }
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<MatmulCompute>();
  const uint32_t rows = words.blocks.block_rows, columns = words.blocks.block_columns;
  const uint32_t tiles = rows * columns;
  const uint32_t k_tiles = words.k_tiles, phases = words.fidelity;
  const bool has_bias = words.has_bias != 0, transpose = words.transpose_b != 0;
  const Items items(words.cores);
  output_init(kOutputBuffer);
  if (!has_bias) mm_init_short(kA, kB, transpose);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    tile_regs_acquire();
    if (has_bias) {
      TakeBias(rows, columns);
      mm_init_short(kA, kB, transpose);
    }
    AddProducts(k_tiles, rows, columns, phases);
    if constexpr (kComputes) FinishBlock(words, item);
    tile_regs_commit();

    cb_reserve_back(kOutputBuffer, tiles);
    tile_regs_wait();
    for (uint32_t dst = 0; dst != tiles; ++dst) pack_tile(dst, kOutputBuffer);
    tile_regs_release();
    cb_push_back(kOutputBuffer, tiles);
  }
}
