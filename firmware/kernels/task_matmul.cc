// Part of a tile task: a tile of the product of two matrices, and a bias for each column. TRISC0, TRISC1 and TRISC2,
// between task_tile_reader.cc and task_tile_writer.cc. Sums have 32 bits.
//
// Arguments: 2 how many tiles a row of the first matrix has. Inputs: 0 that row, 1 the column of the second matrix, 2 a
// tile whose first row is the bias.
#include "task_tiles.h"

using namespace task_tiles;
using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  const uint32_t tiles = Argument(2);
  output_init(kOutput);
  unary_bcast_init_short<BroadcastType::ROW>(kInput2);
  tile_regs_acquire();
  cb_wait_front(kInput2, 1);
  unary_bcast<BroadcastType::ROW>(kInput2, 0, 0);
  cb_pop_front(kInput2, 1);
  mm_init_short(kInput, kInput1);
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kInput, 1);
    cb_wait_front(kInput1, 1);
    matmul_tiles(kInput, kInput1, 0, 0, 0);
    cb_pop_front(kInput, 1);
    cb_pop_front(kInput1, 1);
  }
  Finish();
}
