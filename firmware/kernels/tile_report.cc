// Adds up numbers and prints what it found: an example of <ttfd/print.h>.
//
// Common arguments: 0 how many numbers. Per core: 0 the first of them.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const Position own = OwnPosition();
  const uint32_t first = Argument(0);
  const uint32_t count = CommonArgument(0);
  uint32_t sum = 0;
  for (uint32_t i = first; i != first + count; ++i) {
    sum += i;
  }
  Print("tile (%u,%u): the %u numbers from %u on make %u\n", own.x, own.y, count, first, sum);
  if (sum % 2 != 0) {
    Print("  %s, by the way: %#x\n", "which is odd", sum);
  }
}
