// Computes exp(a * b + c) of tiles a, b and c of circular buffers 0, 1 and 2, into circular buffer 3. TRISC0, TRISC1
// and TRISC2, between chain_reader.cc and chain_writer.cc.
//
// Common arguments: 0 number of tiles of each buffer; 1 number of cores, 2 columns of them (<ttfd/share.h>). The sum
// stays in Dst, with 32 bits; only the result is rounded.
#include <ttfd/compute.h>
#include <ttfd/share.h>

using namespace ttfd::compute;
using ttfd::kernel::CommonArgument;
using ttfd::kernel::Share;

namespace {

constexpr uint32_t kA = 0, kB = 1, kC = 2, kResult = 3;  // circular buffers

void Compute() {
  mul_tiles_init(kA, kB);
  mul_tiles(kA, kB, 0, 0, 0);
  copy_tile_init(kC);
  copy_tile(kC, 0, 1);
  add_binary_tile_init();
  add_binary_tile(0, 1, 0);
  exp_tile_init();
  exp_tile(0);
}

}  // namespace

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  binary_op_init_common(kA, kB, kResult);
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    for (uint32_t buffer = kA; buffer <= kC; ++buffer) cb_wait_front(buffer, 1);
    tile_regs_acquire();
    Compute();
    tile_regs_commit();
    for (uint32_t buffer = kA; buffer <= kC; ++buffer) cb_pop_front(buffer, 1);

    cb_reserve_back(kResult, 1);
    tile_regs_wait();
    pack_tile(0, kResult);
    tile_regs_release();
    cb_push_back(kResult, 1);
  }
}
