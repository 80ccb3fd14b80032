// Operations that use the matrix unit in different ways, one after the other, on a tile of circular buffer 0 and a
// scaler of circular buffer 1, into circular buffer 2. TRISC0, 1 and 2.
//
// Common arguments: 0 number of tiles; 1 number of cores, 2 columns of them. In this order each init function changes
// what the operation before it may still use.
#include <ttfd/compute.h>
#include <ttfd/share.h>

using namespace ttfd::compute;
using namespace ttfd::kernel;

namespace {

constexpr uint32_t kTile = 0, kScaler = 1, kResult = 2;

template <PoolType kPool, ReduceDim kDim>
void Reduce(uint32_t dst) {
  reduce_init<kPool, kDim>(kTile, kScaler, kResult);
  reduce_tile<kPool, kDim>(kTile, kScaler, 0, 0, dst);
  reduce_uninit();
}

void Add() {
  add_tiles_init(kTile, kScaler);
  add_tiles(kTile, kScaler, 0, 0, 0);
}

void Compute() {
  Add();
  Reduce<PoolType::SUM, ReduceDim::REDUCE_ROW>(1);
  Reduce<PoolType::SUM, ReduceDim::REDUCE_COL>(2);
  mm_init_short(kTile, kScaler);
  matmul_tiles(kTile, kScaler, 0, 0, 0);
  Reduce<PoolType::MAX, ReduceDim::REDUCE_ROW>(3);
  Reduce<PoolType::MAX, ReduceDim::REDUCE_COL>(2);
  Reduce<PoolType::SUM, ReduceDim::REDUCE_SCALAR>(1);
  Reduce<PoolType::MAX, ReduceDim::REDUCE_ROW>(3);  // merged with the first one
  Add();
  Reduce<PoolType::MAX, ReduceDim::REDUCE_SCALAR>(1);
}

}  // namespace

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  compute_kernel_hw_startup(kTile, kScaler, kResult);
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    cb_wait_front(kTile, 1);
    cb_wait_front(kScaler, 1);
    tile_regs_acquire();
    Compute();
    tile_regs_commit();
    cb_pop_front(kTile, 1);
    cb_pop_front(kScaler, 1);

    cb_reserve_back(kResult, 1);
    tile_regs_wait();
    pack_tile(tile % 4, kResult);
    tile_regs_release();
    cb_push_back(kResult, 1);
  }
}
