// Clears the beginning of L1, with the firmware of its tile.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  for (uint32_t address = 0; address != 0x2000; address += 4) {
    *L1Pointer<volatile uint32_t>(address) = 0;
  }
}
