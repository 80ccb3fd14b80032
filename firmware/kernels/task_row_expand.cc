// Part of a tile task: subtracts one tile from each of some, or divides each by it. TRISC0, TRISC1 and TRISC2, between
// task_tile_reader.cc and task_tile_writer.cc. In 32 bits if the circular buffers have them.
//
// Arguments: 2 how many tiles; 15 1: divides, 0: subtracts. The one is the only tile of input 1.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  constexpr uint32_t kIn = 0, kOther = 1, kOut = 3;  // circular buffers
  const uint32_t tiles = Argument(2);
  const bool divides = Argument(15) != 0;
  unary_op_init_common(kIn, kOut);
  cb_wait_front(kOther, 1);
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kIn, 1);
    tile_regs_acquire();
    copy_tile_init(kIn);
    copy_tile(kIn, 0, 0);
    copy_tile_init(kOther);
    copy_tile(kOther, 0, 1);
    if (divides) {
      recip_tile(1);
      mul_binary_tile(0, 1, 0);
    } else {
      sub_binary_tile(0, 1, 0);
    }
    tile_regs_commit();
    cb_pop_front(kIn, 1);

    cb_reserve_back(kOut, 1);
    tile_regs_wait();
    pack_tile(0, kOut);
    tile_regs_release();
    cb_push_back(kOut, 1);
  }
  cb_pop_front(kOther, 1);
}
