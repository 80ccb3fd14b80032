// Takes all room from the completion ring: as if the host had given back a whole ring of pages less. BRISC. No
// arguments.
#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  constexpr uint32_t kOffset = offsetof(abi::ControlBlock, completion_pages_read);
  kernel::Read({TTFD_BOOT(dispatch_xy), abi::kControlBlockAddress + kOffset},
               abi::kCircularBufferAddress, sizeof(abi::Counter));
  kernel::ReadBarrier();
  zoo::Staging()[0] = zoo::Staging()[0] - TTFD_BOOT(completion_ring_pages);
  zoo::WriteControlBlock(TTFD_BOOT(dispatch_xy), kOffset, sizeof(abi::Counter));
}
