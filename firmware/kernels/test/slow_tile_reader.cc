// tile_reader.cc with common argument 3: clocks before each pair of tiles is pushed. NCRISC.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer left(0);
  CircularBuffer right(1);
  const InterleavedBuffer left_tiles(CommonArgument(0), left.page_bytes());
  const InterleavedBuffer right_tiles(CommonArgument(1), right.page_bytes());
  for (uint32_t tile = 0; tile != CommonArgument(2); ++tile) {
    Read(left_tiles.Page(tile), left.Reserve(), left.page_bytes());
    Read(right_tiles.Page(tile), right.Reserve(), right.page_bytes());
    ReadBarrier();
    for (const uint64_t start = WallClock(); WallClock() - start < CommonArgument(3);) {
    }
    left.Push();
    right.Push();
  }
}
