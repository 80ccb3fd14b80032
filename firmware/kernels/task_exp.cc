// Part of a tile task: the exponential of some tiles. TRISC0, TRISC1 and TRISC2, between task_tile_reader.cc and
// task_tile_writer.cc. In 32 bits if the circular buffers have them.
//
// Arguments: 2 how many tiles.
#include "task_tiles.h"

using namespace task_tiles;
using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  const uint32_t tiles = Argument(2);
  unary_op_init_common(kInput, kOutput);
  copy_tile_init(kInput);
  exp_tile_init();
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kInput, 1);
    tile_regs_acquire();
    copy_tile(kInput, 0, 0);
    exp_tile(0);
    cb_pop_front(kInput, 1);
    Finish();
  }
}
