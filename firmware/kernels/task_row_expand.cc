// Part of a tile task: subtracts one tile from each of some, or divides each by it. TRISC0, TRISC1 and TRISC2, between
// task_tile_reader.cc and task_tile_writer.cc. In 32 bits if the circular buffers have them.
//
// Arguments: 2 how many tiles; 15 1: divides, 0: subtracts. The one is the only tile of input 1.
#include "task_tiles.h"

using namespace task_tiles;
using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  const uint32_t tiles = Argument(2);
  const bool divides = Argument(15) != 0;
  unary_op_init_common(kInput, kOutput);
  cb_wait_front(kInput1, 1);
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kInput, 1);
    tile_regs_acquire();
    copy_tile_init(kInput);
    copy_tile(kInput, 0, 0);
    copy_tile_init(kInput1);
    copy_tile(kInput1, 0, 1);
    if (divides) {
      recip_tile(1);
      mul_binary_tile(0, 1, 0);
    } else {
      sub_binary_tile(0, 1, 0);
    }
    cb_pop_front(kInput, 1);
    Finish();
  }
  cb_pop_front(kInput1, 1);
}
