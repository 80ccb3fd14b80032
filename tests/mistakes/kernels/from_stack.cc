// Sends from its stack, which lies in local RAM.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  alignas(16) volatile uint32_t words[4] = {1, 2, 3, 4};
  Write(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&words[0])),
        OnTile(OwnPosition(), 0x9F000), 16);
}
