// Writes zeros over BRISC's base firmware of the tile to its right; that tile runs the same kernel and returns
// some time later. BRISC. Common argument 0: L1 address of 16 KiB to copy from. Per core 0: 1 on the tile that
// writes.
#include <ttfd/kernel.h>

#include "runtime/abi/l1_map.h"

using namespace ttfd;

void kernel_main() {
  if (kernel::Argument(0) == 0) {
    const uint64_t until = kernel::WallClock() + 100'000;
    while (kernel::WallClock() < until) continue;
    return;
  }
  const uint32_t zeros = kernel::CommonArgument(0);
  constexpr uint32_t kBytes = abi::kFirmwareBytes[hw::kBrisc];
  for (uint32_t at = 0; at < kBytes; at += 4) *kernel::L1Pointer<volatile uint32_t>(zeros + at) = 0;
  const kernel::Position own = kernel::OwnPosition();
  kernel::Write(zeros, kernel::OnTile({own.x + 1, own.y}, abi::kFirmwareAddress[hw::kBrisc]),
                kBytes);
  kernel::WriteBarrier();
}
