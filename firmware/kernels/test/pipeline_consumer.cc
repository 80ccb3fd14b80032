// Third of three harts: writes the pages of circular buffer 1 to an interleaved DRAM buffer. BRISC.
//
// Common arguments: 0 base of the output. Per core: 0 first page, 1 number of pages.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer in(1);
  const InterleavedBuffer output(CommonArgument(0), in.page_bytes());
  const uint32_t first = Argument(0);
  const uint32_t count = Argument(1);
  for (uint32_t page = first; page != first + count; ++page) {
    Write(in.Wait(), output.Page(page), in.page_bytes());
    WritesFlushedBarrier();
    in.Pop();
  }
}
