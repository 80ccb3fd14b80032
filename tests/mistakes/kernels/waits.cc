// Waits for a semaphore that stays 0.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Semaphore(0).WaitAtLeast(1); }
