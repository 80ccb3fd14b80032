// First of three harts that pass pages along: reads pages of an interleaved DRAM buffer into circular
// buffer 0. NCRISC.
//
// Common arguments: 0 base of the input. Per core: 0 first page, 1 number of pages.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer out(0);
  const InterleavedBuffer input(CommonArgument(0), out.page_bytes());
  const uint32_t first = Argument(0);
  const uint32_t count = Argument(1);
  for (uint32_t page = first; page != first + count; ++page) {
    Read(input.Page(page), out.Reserve(), out.page_bytes());
    ReadBarrier();
    out.Push();
  }
}
