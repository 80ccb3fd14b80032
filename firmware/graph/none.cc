// The part for BRISC of functions that have none.
#include <ttfd/kernel.h>

void kernel_main() {}
