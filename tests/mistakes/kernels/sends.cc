// Sends 64 bytes of scratch memory to what lies before a buffer: in DRAM bank 0, or in the tile's own L1.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t to = CommonArgument(0) - 128;
  const bool is_dram = CommonArgument(1) != 0;
  Write(CircularBuffer(0).address(), is_dram ? OnDramBank(0, to) : OnTile(OwnPosition(), to), 64);
  WriteBarrier();
}
