// Writes over the counts by which the dispatcher lets dispatch_s send go signals. BRISC. No arguments.
#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  constexpr uint32_t kBytes = sizeof(abi::ControlBlock::notified);
  for (uint32_t word = 0; word < kBytes / 4; ++word) zoo::Staging()[word] = zoo::kFarBehind;
  zoo::WriteControlBlock(TTFD_BOOT(dispatch_xy), offsetof(abi::ControlBlock, notified), kBytes);
}
