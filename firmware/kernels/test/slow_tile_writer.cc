// tile_writer.cc with common argument 2: clocks before each page is popped. BRISC.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer result(2);
  const InterleavedBuffer tiles(CommonArgument(0), result.page_bytes());
  for (uint32_t tile = 0; tile != CommonArgument(1); ++tile) {
    Write(result.Wait(), tiles.Page(tile), result.page_bytes());
    WriteBarrier();
    for (const uint64_t start = WallClock(); WallClock() - start < CommonArgument(2);) {
    }
    result.Pop();
  }
}
