// Arithmetic with tiles: adds, multiplies, or forms the matrix product of each pair of tiles of circular buffers 0 and
// 1, into circular buffer 2. Runs on TRISC0, TRISC1 and TRISC2, between tile_reader.cc and tile_writer.cc.
//
// Common arguments: 0 number of pairs; 1 operation: 0 sum, 1 product element by element, 2 matrix product.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using ttfd::kernel::CommonArgument;

namespace {

constexpr uint32_t kLeft = 0, kRight = 1, kResult = 2;  // circular buffers
enum Operation : uint32_t { kAdd = 0, kMultiply = 1, kMatrixMultiply = 2 };

void Initialise(uint32_t operation) {
  if (operation == kAdd) {
    add_tiles_init(kLeft, kRight);
  } else if (operation == kMultiply) {
    mul_tiles_init(kLeft, kRight);
  } else {
    mm_init_short(kLeft, kRight);
  }
}

void Compute(uint32_t operation) {
  if (operation == kAdd) {
    add_tiles(kLeft, kRight, 0, 0, 0);
  } else if (operation == kMultiply) {
    mul_tiles(kLeft, kRight, 0, 0, 0);
  } else {
    matmul_tiles(kLeft, kRight, 0, 0, 0);
  }
}

}  // namespace

void kernel_main() {
  const uint32_t operation = CommonArgument(1);
  compute_kernel_hw_startup(kLeft, kRight, kResult);
  Initialise(operation);
  for (uint32_t count = CommonArgument(0); count != 0; --count) {
    cb_wait_front(kLeft, 1);
    cb_wait_front(kRight, 1);
    tile_regs_acquire();
    Compute(operation);
    tile_regs_commit();
    cb_pop_front(kLeft, 1);
    cb_pop_front(kRight, 1);

    cb_reserve_back(kResult, 1);
    tile_regs_wait();
    pack_tile(0, kResult);
    tile_regs_release();
    cb_push_back(kResult, 1);
  }
}
