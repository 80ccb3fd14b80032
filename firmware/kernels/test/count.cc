// Takes time on the card: counts and ends. BRISC. Common arguments: 0 how far.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  for (uint32_t left = CommonArgument(0); left != 0; --left) {
    asm volatile("");
  }
}
