// The program has no semaphore 1.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Semaphore(1).Set(1); }
