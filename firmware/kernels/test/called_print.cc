// Called by call.cc: prints its argument. BRISC.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Print("called with %u\n", Argument(1)); }
