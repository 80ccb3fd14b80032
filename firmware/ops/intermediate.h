// Circular buffers that TRISC2 fills for TRISC0, in a format other than the output's.
#pragma once

#include <stdint.h>
#include <ttfd/compute/tiles.h>

namespace ttfd::ops {

// TRISC2's next page of a circular buffer, once in an image: with tile 0 of Dst or, without, as a sign.
[[gnu::noinline]] inline void PackPage(uint32_t buffer, bool has_tile) {
  using namespace compute;
  cb_reserve_back(buffer, 1);
  if (has_tile) {
    tile_regs_wait();
    pack_tile(0, buffer);
    tile_regs_release();
  }
  cb_push_back(buffer, 1);
}

// Tile 0 of Dst becomes the next page of a circular buffer.
[[gnu::noinline]] inline void Keep(uint32_t buffer) {
  compute::tile_regs_commit();
  if constexpr (compute::kPacks) PackPage(buffer, true);
}

// The tiles that are packed from here on have the format of a circular buffer. TRISC0 has waited for all before it.
[[gnu::noinline]] inline void PackFormatOf(uint32_t buffer) { compute::output_init(buffer); }

// The same where output has been packed, for which TRISC0 does not wait: by a page of `buffer` without a tile.
inline void AwaitOutputAndPackFormatOf(uint32_t buffer) {
  if constexpr (compute::kPacks) PackPage(buffer, false);
  compute::cb_wait_front(buffer, 1);
  compute::cb_pop_front(buffer, 1);
  PackFormatOf(buffer);
}

}  // namespace ttfd::ops
