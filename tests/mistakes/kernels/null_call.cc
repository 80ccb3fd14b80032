// Calls a function pointer that is not set.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  reinterpret_cast<void (*)()>(CommonArgument(0))();
  *L1Pointer<volatile uint32_t>(0x9F000) = 1;
}
