// A task that reports what it sees. BRISC.
//
// Arguments: 0 buffer with pages of 64 bytes, 1 the page to write: the tile, x + 256 y, then arguments 1 to 15.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

alignas(16) static volatile uint32_t report[16];

void kernel_main() {
  const Position own = OwnPosition();
  report[0] = own.x | own.y << 8;
  for (uint32_t i = 1; i != 16; ++i) report[i] = Argument(i);
  const InterleavedBuffer to(Argument(0), sizeof(report));
  Write(L1AddressOf(const_cast<uint32_t*>(report)), to.Page(Argument(1)), sizeof(report));
}
