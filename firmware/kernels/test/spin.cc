// Never ends, and never rests: counts. BRISC. Common arguments: 0 L1 address of the counter.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  auto* const counter = L1Pointer<volatile uint32_t>(CommonArgument(0));
  for (;;) {
    *counter = *counter + 1;
  }
}
