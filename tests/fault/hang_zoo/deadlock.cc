// Two harts of a tile, each waiting for the other to go first. BRISC and NCRISC. Semaphores 0 and 1 start at 0.
#include <ttfd/kernel.h>

void kernel_main() {
  using namespace ttfd;
  constexpr uint32_t kMine = firmware::kThisHart == hw::kBrisc ? 0 : 1;
  kernel::Semaphore(kMine).WaitAtLeast(1);
  kernel::Semaphore(1 - kMine).Set(1);
}
