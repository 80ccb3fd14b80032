// Writes its share of the tiles of an interleaved DRAM buffer from a circular buffer. BRISC.
//
// Common arguments: 0 number of tiles; 1 number of cores, 2 columns of them (<ttfd/share.h>); 3 index of the circular
// buffer, whose pages have one tile; 4 base address.
#include <ttfd/kernel.h>
#include <ttfd/share.h>

using namespace ttfd::kernel;

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  CircularBuffer pages(CommonArgument(3));
  const InterleavedBuffer buffer(CommonArgument(4), pages.page_bytes());
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    Write(pages.Wait(), buffer.Page(tile), pages.page_bytes());
    WriteBarrier();
    pages.Pop();
  }
}
