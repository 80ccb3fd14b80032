// Applies a function of the vector unit to the tiles of circular buffer 0, into circular buffer 1. TRISC0, 1 and 2.
//
// Common arguments: 0 number of tiles; 1 number of cores, 2 columns of them; 3 function, in the order of the table; 4
// bits of the number of functions with one.
#include <ttfd/compute.h>
#include <ttfd/share.h>

using namespace ttfd::compute;
using namespace ttfd::kernel;

namespace {

void Apply(uint32_t function, uint32_t bits) {
  uint32_t index = 0;
#define FUNCTION(name)       \
  if (function == index++) { \
    name##_tile_init();      \
    name##_tile(0);          \
  }
  FUNCTION(exp)
  FUNCTION(recip)
  FUNCTION(sqrt)
  FUNCTION(rsqrt)
  FUNCTION(sigmoid)
  FUNCTION(silu)
  FUNCTION(tanh)
  FUNCTION(gelu)
  FUNCTION(log)
  FUNCTION(relu)
  FUNCTION(abs)
  FUNCTION(negative)
  FUNCTION(square)
  FUNCTION(sin)
  FUNCTION(cos)
  FUNCTION(floor)
  FUNCTION(erf)
  FUNCTION(atan)
#define SCALAR(init, name)   \
  if (function == index++) { \
    init();                  \
    name(0, bits);           \
  }
  SCALAR(binop_with_scalar_tile_init, add_unary_tile)
  SCALAR(binop_with_scalar_tile_init, mul_unary_tile)
  SCALAR(unary_max_tile_init, unary_max_tile)
  SCALAR(unary_min_tile_init, unary_min_tile)
}

}  // namespace

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  const uint32_t function = CommonArgument(3);
  const uint32_t bits = CommonArgument(4);
  init_sfpu(0, 1);
  copy_tile_init(0);
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    Apply(function, bits);
    tile_regs_commit();
    cb_pop_front(0, 1);

    cb_reserve_back(1, 1);
    tile_regs_wait();
    pack_tile(0, 1);
    tile_regs_release();
    cb_push_back(1, 1);
  }
}
