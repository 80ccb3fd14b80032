// Writes to a tile that is not on the grid.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Write(0x9F000, OnTile({40, 1}, 0xB0000), 16); }
