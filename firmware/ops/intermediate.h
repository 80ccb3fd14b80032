// Circular buffers that TRISC2 fills for TRISC0, in a format other than the output's.
#pragma once

#include <stdint.h>
#include <ttfd/compute/tiles.h>

namespace ttfd::ops {

// Tile 0 of Dst becomes the next page of a circular buffer.
[[gnu::noinline]] inline void Keep(uint32_t buffer) {
  using namespace compute;
  tile_regs_commit();
  cb_reserve_back(buffer, 1);
  tile_regs_wait();
  pack_tile(0, buffer);
  tile_regs_release();
  cb_push_back(buffer, 1);
}

// The tiles that are packed from here on have the format of a circular buffer. TRISC0 has waited for all before it.
[[gnu::noinline]] inline void PackFormatOf(uint32_t buffer) { compute::output_init(buffer); }

// The same where output has been packed, for which TRISC0 does not wait: by a page of `buffer` without content.
inline void AwaitOutputAndPackFormatOf(uint32_t buffer) {
  using namespace compute;
  cb_reserve_back(buffer, 1);
  cb_push_back(buffer, 1);
  cb_wait_front(buffer, 1);
  cb_pop_front(buffer, 1);
  PackFormatOf(buffer);
}

}  // namespace ttfd::ops
