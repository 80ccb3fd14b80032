// Raises a flag on another tile, waits for its own: ends only if somebody raises it, who may be the
// kernel of another launch or the host.
//
// Common: L1 address of the flag, 16-byte aligned; x and y of the other tile; flags: 1 if there is
// one, 2 to count while waiting, so that the card is never idle.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t flag = CommonArgument(0);
  if ((CommonArgument(3) & 1) != 0) {
    Increment(OnTile({CommonArgument(1), CommonArgument(2)}, flag), 1);
  }
  const volatile uint32_t* const word = L1Pointer<volatile uint32_t>(flag);
  if ((CommonArgument(3) & 2) != 0) {
    volatile uint32_t count = 0;
    while (*word == 0) count = count + 1;
  }
  while (*word == 0) asm volatile("fence" ::: "memory");
}
