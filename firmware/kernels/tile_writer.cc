// Last of five harts that compute with tiles (tile_reader.cc describes them): writes the tiles of circular buffer 2 to
// an interleaved DRAM buffer. BRISC.
//
// Common arguments: 0 base address of the buffer; 1 number of tiles, from the first one on.
// Circular buffer 2: pages of 2048 bytes, one at least; two let a tile be packed while one is written.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer result(2);
  const InterleavedBuffer tiles(CommonArgument(0), result.page_bytes());
  const uint32_t count = CommonArgument(1);
  for (uint32_t tile = 0; tile != count; ++tile) {
    Write(result.Wait(), tiles.Page(tile), result.page_bytes());
    WriteBarrier();
    result.Pop();
  }
}
