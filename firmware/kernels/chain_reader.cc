// Reads its share of the tiles of some interleaved DRAM buffers into circular buffers 0, 1, ..., one tile of each at
// a time. NCRISC.
//
// Common arguments: 0 number of tiles of each buffer; 1 number of cores, 2 columns of them (<ttfd/share.h>); 3 number
// of buffers, up to 8; from 4 on their base addresses. Circular buffers: pages of one tile, one page at least.
#include <ttfd/kernel.h>
#include <ttfd/share.h>

using namespace ttfd::kernel;

void kernel_main() {
  const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
  const uint32_t buffers = CommonArgument(3);
  CircularBuffer pages[8];
  for (uint32_t i = 0; i != buffers; ++i) pages[i] = CircularBuffer(i);
  for (uint32_t tile = share.first; tile < share.end; tile += share.step) {
    for (uint32_t i = 0; i != buffers; ++i) {
      const uint32_t bytes = pages[i].page_bytes();
      Read(InterleavedBuffer(CommonArgument(4 + i), bytes).Page(tile), pages[i].Reserve(), bytes);
    }
    ReadBarrier();
    for (uint32_t i = 0; i != buffers; ++i) pages[i].Push();
  }
}
