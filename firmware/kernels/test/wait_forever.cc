// Waits for semaphore 0 to reach 1, which nobody does unless a test writes it. BRISC.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Semaphore(0).WaitAtLeast(1); }
