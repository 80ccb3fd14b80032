// Loads a word from an odd address.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t address = CommonArgument(0) + 1;
  *L1Pointer<volatile uint32_t>(0x9F000) = *L1Pointer<const volatile uint32_t>(address);
}
