// Part of a tile task: writes its tiles. BRISC.
//
// Arguments: 12 a buffer, 13 its first tile, 14 how many tiles. They come from circular buffer 3, whose pages have one
// tile. DRAM buffers: pages of one tile.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer pages(3);
  const InterleavedBuffer tiles(Argument(12), pages.page_bytes());
  const uint32_t first = Argument(13), end = first + Argument(14);
  for (uint32_t tile = first; tile != end; ++tile) {
    Write(pages.Wait(), tiles.Page(tile), pages.page_bytes());
    WritesFlushedBarrier();
    pages.Pop();
  }
}
