// Never ends.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  auto* const count = L1Pointer<volatile uint32_t>(0x9F000);
  for (;;) *count = *count + 1;
}
