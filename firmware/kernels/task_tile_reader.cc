// Part of a tile task: reads its tiles. NCRISC.
//
// Arguments: of each of three inputs a buffer, its first tile, how many tiles (0: there is none), and the step from one
// to the next: 0 to 3, 4 to 7, 8 to 11. They go to circular buffers 0, 1 and 2, a tile of each at a time, whose pages
// have one tile. DRAM buffers: pages of one tile.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  constexpr uint32_t kInputs = 3;
  struct Input {
    InterleavedBuffer tiles;
    uint32_t next;
    uint32_t left;
    uint32_t step;
  };
  CircularBuffer pages[kInputs] = {CircularBuffer(0), CircularBuffer(1), CircularBuffer(2)};
  Input inputs[kInputs];
  for (uint32_t i = 0; i != kInputs; ++i) {
    inputs[i] = {{Argument(Optional(4 * i)), pages[i].page_bytes()},
                 Argument(Optional(4 * i + 1)),
                 Argument(Optional(4 * i + 2)),
                 Argument(Optional(4 * i + 3))};
  }
  while ((inputs[0].left | inputs[1].left | inputs[2].left) != 0) {
    for (uint32_t i = 0; i != kInputs; ++i) {
      if (inputs[i].left == 0) continue;
      Read(inputs[i].tiles.Page(inputs[i].next), pages[i].Reserve(), pages[i].page_bytes());
    }
    ReadBarrier();
    for (uint32_t i = 0; i != kInputs; ++i) {
      if (inputs[i].left == 0) continue;
      pages[i].Push();
      inputs[i].next += inputs[i].step;
      --inputs[i].left;
    }
  }
}
