// Source and destination of a transfer differ modulo 16.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() { Write(0x9F000, OnTile(OwnPosition(), 0x9F024), 16); }
