// Stores where nothing is.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { *L1Pointer<volatile uint32_t>(0x4000'0000) = 1; }
