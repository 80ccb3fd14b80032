// First of five harts that compute with tiles (tile_math.cc runs on three, tile_writer.cc on the last): reads pairs
// of tiles from two interleaved DRAM buffers into circular buffers 0 and 1. NCRISC.
//
// A tile is a page of 2048 bytes: 32x32 numbers in bfloat16, as four faces of 16x16, top left, top right, bottom left,
// bottom right, each row by row.
//
// Common arguments: 0, 1 base addresses of the two buffers; 2 number of tiles, from the first one on.
// Circular buffers 0 and 1: pages of 2048 bytes, one at least; two let the next pair travel while one is used.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer left(0);
  CircularBuffer right(1);
  const InterleavedBuffer left_tiles(CommonArgument(0), left.page_bytes());
  const InterleavedBuffer right_tiles(CommonArgument(1), right.page_bytes());
  const uint32_t count = CommonArgument(2);
  for (uint32_t tile = 0; tile != count; ++tile) {
    Read(left_tiles.Page(tile), left.Reserve(), left.page_bytes());
    Read(right_tiles.Page(tile), right.Reserve(), right.page_bytes());
    ReadBarrier();
    left.Push();
    right.Push();
  }
}
