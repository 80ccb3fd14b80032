// Source and destination of a transfer differ modulo 16.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Write(0xB0000, OnTile(OwnPosition(), 0xB0024), 16); }
