// Part of a tile task: the exponential of some tiles. TRISC0, TRISC1 and TRISC2, between task_tile_reader.cc and
// task_tile_writer.cc. In 32 bits if the circular buffers have them.
//
// Arguments: 2 how many tiles.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  constexpr uint32_t kIn = 0, kOut = 3;  // circular buffers
  const uint32_t tiles = Argument(2);
  unary_op_init_common(kIn, kOut);
  copy_tile_init(kIn);
  exp_tile_init();
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kIn, 1);
    tile_regs_acquire();
    copy_tile(kIn, 0, 0);
    exp_tile(0);
    tile_regs_commit();
    cb_pop_front(kIn, 1);

    cb_reserve_back(kOut, 1);
    tile_regs_wait();
    pack_tile(0, kOut);
    tile_regs_release();
    cb_push_back(kOut, 1);
  }
}
