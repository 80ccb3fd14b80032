// Counts in words of its own tile's L1, from an address on.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  for (uint32_t i = 0; i != CommonArgument(1); ++i) {
    L1Pointer<volatile uint32_t>(CommonArgument(0))[i] = i;
  }
}
