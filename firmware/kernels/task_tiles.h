// Circular buffers of tile tasks, between task_tile_reader.cc and task_tile_writer.cc, and the end of a tile in their
// compute kernels.
#pragma once

#include <ttfd/compute.h>

namespace task_tiles {

constexpr uint32_t kInput = 0, kInput1 = 1, kInput2 = 2, kOutput = 3;

// Tile 0 of Dst, which TRISC1 has computed, becomes the next tile of the output.
inline void Finish() {
  using namespace ttfd::compute;
  tile_regs_commit();
  cb_reserve_back(kOutput, 1);
  tile_regs_wait();
  pack_tile(0, kOutput);
  tile_regs_release();
  cb_push_back(kOutput, 1);
}

}  // namespace task_tiles
