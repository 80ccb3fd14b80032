// Part of a tile task: a tile of the product of two matrices, and a bias for each column. TRISC0, TRISC1 and TRISC2,
// between task_tile_reader.cc and task_tile_writer.cc. Sums have 32 bits.
//
// Arguments: 2 how many tiles a row of the first matrix has. Inputs: 0 that row, 1 the column of the second matrix, 2 a
// tile whose first row is the bias.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using ttfd::kernel::Argument;

void kernel_main() {
  constexpr uint32_t kLeft = 0, kRight = 1, kBias = 2, kOut = 3;  // circular buffers
  const uint32_t tiles = Argument(2);
  output_init(kOut);
  unary_bcast_init_short<BroadcastType::ROW>(kBias);
  tile_regs_acquire();
  cb_wait_front(kBias, 1);
  unary_bcast<BroadcastType::ROW>(kBias, 0, 0);
  cb_pop_front(kBias, 1);
  mm_init_short(kLeft, kRight);
  for (uint32_t i = 0; i != tiles; ++i) {
    cb_wait_front(kLeft, 1);
    cb_wait_front(kRight, 1);
    matmul_tiles(kLeft, kRight, 0, 0, 0);
    cb_pop_front(kLeft, 1);
    cb_pop_front(kRight, 1);
  }
  tile_regs_commit();

  cb_reserve_back(kOut, 1);
  tile_regs_wait();
  pack_tile(0, kOut);
  tile_regs_release();
  cb_push_back(kOut, 1);
}
