// chain_reader.cc that waits before it pushes tiles: as many clocks as the common argument after the addresses says.
// NCRISC.
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
    for (const uint64_t start = WallClock(); WallClock() - start < CommonArgument(4 + buffers);) {
    }
    for (uint32_t i = 0; i != buffers; ++i) pages[i].Push();
  }
}
