// Has the prefetcher miss what the dispatcher notified it of: the next command that waits for it stalls. BRISC. No
// arguments.
#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  zoo::Staging()[0] = zoo::kFarBehind;
  for (uint32_t word = 1; word < 4; ++word) zoo::Staging()[word] = 0;
  zoo::WriteControlBlock(TTFD_BOOT(prefetch_xy), offsetof(abi::ControlBlock, sync),
                         sizeof(abi::Counter));
}
