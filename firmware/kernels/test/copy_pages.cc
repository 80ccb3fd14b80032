// Copies pages between interleaved buffers in DRAM and in L1, any of the four ways. BRISC or NCRISC.
//
// Common arguments: 0, 1 base addresses of source and destination; 2 page bytes (a multiple of 64, the same
// for both); 3 bit 0: the source is in DRAM, bit 1: the destination is. Per core: 0 first page, 1 number
// of pages. Circular buffer 0: scratch, at least a page.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t page_bytes = CommonArgument(2);
  const InterleavedBuffer from(CommonArgument(0), page_bytes, (CommonArgument(3) & 1) != 0);
  const InterleavedBuffer to(CommonArgument(1), page_bytes, (CommonArgument(3) & 2) != 0);
  const uint32_t scratch = CircularBuffer(0).address();
  const uint32_t end = Argument(0) + Argument(1);
  for (uint32_t page = Argument(0); page != end; ++page) {
    WritesFlushedBarrier();
    Read(from.Page(page), scratch, page_bytes);
    ReadBarrier();
    Write(scratch, to.Page(page), page_bytes);
  }
}
