// Operations with tiles in Dst: tiles of circular buffers 0, 1 and 2 make tiles of circular buffer 3. TRISC0, 1 and 2.
//
// Common arguments: 0 number of tiles of each; 1 number of cores, 2 columns of them; 3 operation, in the order of the
// table; 4 bits of the number that a tile is filled with: tile 32 * r + c outside r + 1 rows and c + 1 columns.
#include <ttfd/compute.h>
#include <ttfd/share.h>

using namespace ttfd::compute;
using namespace ttfd::kernel;

namespace {

constexpr uint32_t kResult = 3;

// The inputs, in as many tiles of Dst.
void CopyInputs() {
  for (uint32_t i = 0; i != kResult; ++i) {
    copy_tile_init(i);
    copy_tile(i, 0, i);
  }
}

template <BroadcastType kBroadcast>
void Broadcast() {
  unary_bcast_init_short<kBroadcast>(0);
  unary_bcast<kBroadcast>(0, 0, 0);
  unary_bcast<kBroadcast>(2, 0, 2);  // its format is that of input 0
  copy_tile_init(1);
  copy_tile(1, 0, 1);
  add_binary_tile(0, 1, 0);
  add_binary_tile(0, 2, 0);
}

void Compute(uint32_t operation, uint32_t tile) {
  uint32_t index = 0;
#define OPERATION(...)        \
  if (operation == index++) { \
    __VA_ARGS__;              \
  }
#define BINARY(name) OPERATION(CopyInputs(); name##_tile_init(); name##_tile(0, 1, 0))
#define UNARY(name) OPERATION(CopyInputs(); name##_tile_init(); name##_tile(0))
  BINARY(div_binary)
  BINARY(binary_max)
  BINARY(binary_min)
  BINARY(eq_binary)
  BINARY(ne_binary)
  BINARY(lt_binary)
  BINARY(le_binary)
  BINARY(gt_binary)
  BINARY(ge_binary)
  OPERATION(CopyInputs(); where_tile_init(); where_tile(0, 1, 2, 0))
  UNARY(sin)
  UNARY(cos)
  UNARY(floor)
  OPERATION(CopyInputs();
            fill_outside_tile(0, tile / 32 % 32 + 1, tile % 32 + 1, CommonArgument(4)))
  OPERATION(Broadcast<BroadcastType::NONE>())
  OPERATION(Broadcast<BroadcastType::COL>())
  OPERATION(Broadcast<BroadcastType::ROW>())
  OPERATION(Broadcast<BroadcastType::SCALAR>())
  UNARY(row_sums)
  UNARY(row_maxima)
  BINARY(add_int32)
}

}  // namespace

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  const uint32_t operation = CommonArgument(3);
  compute_kernel_hw_startup(0, 1, kResult);
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    for (uint32_t i = 0; i != kResult; ++i) cb_wait_front(i, 1);
    tile_regs_acquire();
    Compute(operation, tile);
    tile_regs_commit();
    for (uint32_t i = 0; i != kResult; ++i) cb_pop_front(i, 1);

    cb_reserve_back(kResult, 1);
    tile_regs_wait();
    pack_tile(0, kResult);
    tile_regs_release();
    cb_push_back(kResult, 1);
  }
}
