// Computes a tile beyond the last one of Dst.
#include <ttfd/compute.h>

using namespace ttfd::compute;

void kernel_main() {
  copy_tile_init(0);
  tile_regs_acquire();
  copy_tile(0, 0, 16);
}
