// Pushes more pages than are taken.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer pages(0);
  for (uint32_t i = 0; i != 3; ++i) {
    pages.Reserve();
    pages.Push();
  }
}
