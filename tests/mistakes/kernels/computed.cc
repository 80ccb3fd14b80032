// Uses indices that common argument 0 gives: of arguments up to it, of a circular buffer.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t last = CommonArgument(0);
  for (uint32_t i = 0; i <= last; ++i) {
    *L1Pointer<volatile uint32_t>(0x9F000) = Argument(i);
  }
  CircularBuffer(last).Reserve();
}
