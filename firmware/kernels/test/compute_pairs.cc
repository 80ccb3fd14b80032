// Operations on pairs of tiles: two of circular buffer 0 and two of circular buffer 1 make two of circular buffer 2.
// TRISC0, 1 and 2.
//
// Common arguments: 0 number of tiles of each; 1 number of cores, 2 columns of them; 3 operation, in the order of the
// table. A core's share is an even number of tiles, and so are the pages of the buffers.
#include <ttfd/compute.h>
#include <ttfd/share.h>

using namespace ttfd::compute;
using namespace ttfd::kernel;

namespace {

constexpr uint32_t kLeft = 0, kRight = 1, kResult = 2;

// One tile after the other.
template <typename Operation>
void Each(Operation operation) {
  operation(0);
  operation(1);
}

template <PoolType kPool, ReduceDim kDim>
void ReduceBoth() {
  reduce_init<kPool, kDim>(kLeft, kRight, kResult);
  reduce_tile<kPool, kDim>(kLeft, kRight, 0, 0, 0);
  reduce_tile<kPool, kDim>(kLeft, kRight, 1, 1, 1);
  reduce_tile<kPool, kDim>(kLeft, kRight, 1, 1, 0);
  reduce_uninit();
}

void TransposeOne() {
  transpose_wh_init_short(kLeft);
  transpose_wh_tile(kLeft, 0, 0);
  copy_tile_init(kLeft);
  copy_tile(kLeft, 1, 1);
}

template <MathFidelity kFidelity = MathFidelity::HiFi4>
void Multiply(bool transpose) {
  mm_init_short(kLeft, kRight, transpose);
  for (uint32_t dst = 0; dst != 2; ++dst) {
    matmul_tiles<kFidelity>(kLeft, kRight, 0, dst, dst);
    matmul_tiles<kFidelity>(kLeft, kRight, 1, 1 - dst, dst);
  }
}

// Two tiles of Dst combined into one.
template <void (*kCombine)(uint32_t, uint32_t, uint32_t)>
void CombineInDst() {
  Each([](uint32_t i) {
    copy_tile_init(kLeft);
    copy_tile(kLeft, i, i);
    copy_tile_init(kRight);
    copy_tile(kRight, i, 3);
    kCombine(i, 3, i);
  });
}

// left * right + left, by way of three tiles of Dst.
void MultiplyAndAdd() {
  mul_tiles_init(kLeft, kRight);
  Each([](uint32_t i) { mul_tiles(kLeft, kRight, i, i, i); });
  copy_tile_init(kLeft);
  add_binary_tile_init();
  Each([](uint32_t i) {
    copy_tile(kLeft, i, 3);
    add_binary_tile(i, 3, i);
  });
}

void RoundToBFloat16() {
  constexpr auto kFrom = static_cast<uint32_t>(DataFormat::Float32);
  constexpr auto kTo = static_cast<uint32_t>(DataFormat::Float16_b);
  copy_tile_init(kLeft);
  Each([](uint32_t i) { copy_tile(kLeft, i, i); });
  typecast_tile_init<kFrom, kTo>();
  Each([](uint32_t i) { typecast_tile<kFrom, kTo>(i); });
}

void Compute(uint32_t operation) {
  uint32_t index = 0;
#define OPERATION(...)        \
  if (operation == index++) { \
    __VA_ARGS__;              \
  }
#define BINARY(init, name) \
  OPERATION(init(kLeft, kRight); Each([](uint32_t i) { name(kLeft, kRight, i, i, i); }))
#define UNARY(init, name) OPERATION(init(kLeft); Each([](uint32_t i) { name(kLeft, i, i); }))
#define BROADCASTS(name)                                        \
  BINARY(name##_tiles_init, name##_tiles)                       \
  BINARY(name##_bcast_rows_init_short, name##_tiles_bcast_rows) \
  BINARY(name##_bcast_cols_init_short, name##_tiles_bcast_cols) \
  BINARY(name##_bcast_scalar_init_short, name##_tiles_bcast_scalar)
#define REDUCTIONS(pool)                                         \
  OPERATION(ReduceBoth<PoolType::pool, ReduceDim::REDUCE_ROW>()) \
  OPERATION(ReduceBoth<PoolType::pool, ReduceDim::REDUCE_COL>()) \
  OPERATION(ReduceBoth<PoolType::pool, ReduceDim::REDUCE_SCALAR>())
  BROADCASTS(add)
  BROADCASTS(sub)
  BROADCASTS(mul)
  REDUCTIONS(SUM)
  REDUCTIONS(MAX)
  UNARY(copy_tile_init, copy_tile)
  UNARY(transpose_wh_init_short, transpose_wh_tile)
  OPERATION(TransposeOne())
  OPERATION(Multiply(false))
  OPERATION(Multiply(true))
  OPERATION(MultiplyAndAdd())
  OPERATION(CombineInDst<sub_binary_tile>())
  OPERATION(CombineInDst<mul_binary_tile>())
  OPERATION(RoundToBFloat16())
#define PRODUCTS(fidelity)                                  \
  BINARY(mul_tiles_init, mul_tiles<MathFidelity::fidelity>) \
  OPERATION(Multiply<MathFidelity::fidelity>(false))
  PRODUCTS(LoFi)
  PRODUCTS(HiFi2)
  PRODUCTS(HiFi3)
  PRODUCTS(HiFi4)
}

}  // namespace

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  const uint32_t operation = CommonArgument(3);
  compute_kernel_hw_startup(kLeft, kRight, kResult);
  for (uint32_t tile = share.first; tile < share.end; tile += 2 * share.step) {
    cb_wait_front(kLeft, 2);
    cb_wait_front(kRight, 2);
    tile_regs_acquire();
    Compute(operation);
    tile_regs_commit();
    cb_pop_front(kLeft, 2);
    cb_pop_front(kRight, 2);

    cb_reserve_back(kResult, 2);
    tile_regs_wait();
    if (operation % 2 == 0) {
      pack_tile(0, kResult);
      pack_tile(1, kResult);
    } else {
      pack_tile<true>(1, kResult, 1);
      pack_tile<true>(0, kResult, 0);
    }
    tile_regs_release();
    cb_push_back(kResult, 2);
  }
}
