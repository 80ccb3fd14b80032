// Part of a tile task: the maximum or the sum of each row of some tiles side by side, in all columns of one tile.
// TRISC0, TRISC1 and TRISC2, between task_tile_reader.cc and task_tile_writer.cc. In 32 bits if the circular buffers
// have them.
//
// Arguments: 2 how many tiles; 15 1: the sum, 0: the maximum.
#include "task_tiles.h"

using namespace task_tiles;
using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  const uint32_t tiles = Argument(2);
  const bool sums = Argument(15) != 0;
  unary_op_init_common(kInput, kOutput);
  copy_tile_init(kInput);
  tile_regs_acquire();
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kInput, 1);
    copy_tile(kInput, 0, i == 0 ? 0 : 1);
    cb_pop_front(kInput, 1);
    if (i == 0) continue;
    if (sums) {
      add_binary_tile(0, 1, 0);
    } else {
      binary_max_tile(0, 1, 0);
    }
  }
  if (sums) {
    row_sums_tile(0);
  } else {
    row_maxima_tile(0);
  }
  Finish();
}
