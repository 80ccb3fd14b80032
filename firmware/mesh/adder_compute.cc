// Adds slices: kRingTotal is kRingReceived + kRingAddend + ..., in this order and in Float32 or int32. Words RingWords,
// argument 0 the adder.
#include <ttfd/compute.h>

#include "firmware/mesh/adder.h"

using namespace ttfd::compute;
using namespace ttfd::mesh;

namespace {

constexpr uint32_t kNext = 2;  // tile of Dst that is added to those before it

void Add(bool integers, uint32_t to) {
  if (integers) {
    add_int32_tile(to, kNext, to);
  } else {
    add_binary_tile(to, kNext, to);
  }
}

}  // namespace

void kernel_main() {
  const auto& words = ttfd::kernel::CommonArguments<RingWords>();
  if (!HasWork(words)) return;
  const bool integers = words.adders.sum == RingSum::kInt32;
  const uint32_t tiles = SliceTiles(words);
  unary_op_init_common(kRingReceived, kRingTotal);
  copy_tile_init(kRingReceived);
  for (uint32_t left = words.adders.sums; left != 0; --left) {
    cb_wait_front(kRingReceived, tiles);
    tile_regs_acquire();
    for (uint32_t tile = 0; tile != tiles; ++tile) copy_tile(kRingReceived, tile, tile);
    cb_pop_front(kRingReceived, tiles);
    for (uint32_t addend = words.adders.addends; addend != 0; --addend) {
      cb_wait_front(kRingAddend, tiles);
      for (uint32_t tile = 0; tile != tiles; ++tile) {
        copy_tile(kRingAddend, tile, kNext);
        Add(integers, tile);
      }
      cb_pop_front(kRingAddend, tiles);
    }
    tile_regs_commit();
    cb_reserve_back(kRingTotal, tiles);
    tile_regs_wait();
    for (uint32_t tile = 0; tile != tiles; ++tile) pack_tile(tile, kRingTotal);
    tile_regs_release();
    cb_push_back(kRingTotal, tiles);
  }
}
