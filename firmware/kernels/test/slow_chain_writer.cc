// chain_writer.cc with common argument 5: clocks before each page is popped. BRISC.
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
    for (const uint64_t start = WallClock(); WallClock() - start < CommonArgument(5);) {
    }
    pages.Pop();
  }
}
