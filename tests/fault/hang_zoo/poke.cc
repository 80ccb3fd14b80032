// Writes zeros somewhere into the L1 of a tile. BRISC. Common arguments: 0 x, 1 y of the tile in the grid, 2 address,
// 3 bytes, at most 1024.
#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  for (uint32_t word = 0; word < 256; ++word) zoo::Staging()[word] = 0;
  kernel::Write(abi::kCircularBufferAddress,
                kernel::OnTile({kernel::CommonArgument(0), kernel::CommonArgument(1)},
                               kernel::CommonArgument(2)),
                kernel::CommonArgument(3));
  kernel::WriteBarrier();
}
