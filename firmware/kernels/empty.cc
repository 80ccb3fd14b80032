// Does nothing: what a launch costs. No arguments.
#include <ttfd/kernel.h>

void kernel_main() {}
