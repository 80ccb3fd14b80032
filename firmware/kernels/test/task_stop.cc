// A task that hangs or faults. BRISC.
//
// Argument: 0 how it ends: 0 well, 1 waits for what never comes, 2 runs for ever, 3 a misaligned store.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t how = Argument(0);
  if (how == 1) Semaphore(0).WaitAtLeast(1);
  while (how == 2) {
    asm volatile("");
  }
  if (how == 3) asm volatile("sw zero, 1(%0)" ::"r"(ttfd::abi::kBufferAddress) : "memory");
}
