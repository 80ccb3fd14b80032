// Prints. Any hart.
//
// Common arguments: 0 how many lines; 1 what follows: 0 return, 1 wait for ever, 2 jump into nothing; 2 any word,
// printed with each line.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const Position own = OwnPosition();
  for (uint32_t i = 0; i != CommonArgument(0); ++i) {
    Print("line %u of (%u,%u) hart %u: %u\n", i, own.x, own.y, kHart, CommonArgument(2));
  }
  if (CommonArgument(1) == 1) {
    Semaphore(Optional(0)).WaitAtLeast(1);
  } else if (CommonArgument(1) == 2) {
    reinterpret_cast<void (*)()>(0x2FFF0)();
  }
}
