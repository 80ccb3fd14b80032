// Writes zeros over the dispatcher's code. BRISC. No arguments.
#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  constexpr uint32_t kBytes = abi::kFirmwareBytes[hw::kBrisc];
  for (uint32_t word = 0; word < kBytes / 4; ++word) zoo::Staging()[word] = 0;
  kernel::Write(abi::kCircularBufferAddress,
                {TTFD_BOOT(dispatch_xy), abi::kFirmwareAddress[hw::kBrisc]}, kBytes);
  kernel::WriteBarrier();
}
