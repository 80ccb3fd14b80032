// Part of a task: TRISC1 waits for ever in the Tensix engine, for semaphore 7, which no thread posts. TRISC0, TRISC1
// and TRISC2.
//
// Arguments: 0 1: waits, 0: does nothing.
#include <ttfd/compute.h>

using namespace ttfd::compute;
using namespace ttfd::hw::tensix;
using ttfd::kernel::Argument;
using ttfd::kernel::Push;

void kernel_main() {
  if (!kComputes || Argument(0) == 0) return;
  constexpr uint32_t kSelect = 1u << 7;
  Push<SEMINIT{}.sem_sel(kSelect).max_value(1)>();
  Push<SEMWAIT{}.sem_sel(kSelect).wait_sem_cond(kWhileZero).stall_res(kStallMath | kStallSync)>();
  ttfd::kernel::Synchronize();
}
