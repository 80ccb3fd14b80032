// Waits for ever in the Tensix engine: for semaphore 7, which no thread posts. TRISC1.
#include <ttfd/compute/instructions.h>
#include <ttfd/kernel.h>

using namespace ttfd::kernel;
using namespace ttfd::hw::tensix;

void kernel_main() {
  constexpr uint32_t kSelect = 1u << 7;
  Push<SEMINIT{}.sem_sel(kSelect).max_value(1)>();
  Push<SEMWAIT{}.sem_sel(kSelect).wait_sem_cond(kWhileZero).stall_res(kStallMath | kStallSync)>();
  Synchronize();
}
