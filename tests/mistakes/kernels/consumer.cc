// Waits for a page that is never pushed.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { CircularBuffer(0).Wait(); }
