// Part of a tile task: the maximum or the sum of each row of some tiles side by side, in all columns of one tile.
// TRISC0, TRISC1 and TRISC2, between task_tile_reader.cc and task_tile_writer.cc. In 32 bits if the circular buffers
// have them.
//
// Arguments: 2 how many tiles; 15 1: the sum, 0: the maximum.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  constexpr uint32_t kIn = 0, kOut = 3;  // circular buffers
  const uint32_t tiles = Argument(2);
  const bool sums = Argument(15) != 0;
  unary_op_init_common(kIn, kOut);
  copy_tile_init(kIn);
  tile_regs_acquire();
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kIn, 1);
    copy_tile(kIn, 0, i == 0 ? 0 : 1);
    cb_pop_front(kIn, 1);
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
  tile_regs_commit();

  cb_reserve_back(kOut, 1);
  tile_regs_wait();
  pack_tile(0, kOut);
  tile_regs_release();
  cb_push_back(kOut, 1);
}
