// The program has no circular buffer 0.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const CircularBuffer scratch(0);
  *L1Pointer<volatile uint32_t>(scratch.address()) = 1;
}
