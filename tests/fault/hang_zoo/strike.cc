// Writes a word over and over into the L1 or a register of a tile. BRISC. Common arguments: 0 which tile (a worker's x
// and y, 16 bits each; kDispatchTile or kPrefetchTile of strike.h), 1 address, 2 bytes, 3 word.
#include "tests/fault/hang_zoo/strike.h"

#include "tests/fault/hang_zoo/control_block.h"

void kernel_main() {
  using namespace ttfd;
  constexpr uint32_t kChunk = 1024;
  const uint32_t which = kernel::CommonArgument(0);
  const uint32_t tile = which == zoo::kDispatchTile ? TTFD_BOOT(dispatch_xy)
                        : which == zoo::kPrefetchTile
                            ? TTFD_BOOT(prefetch_xy)
                            : kernel::OnTile({which & 0xFFFF, which >> 16}, 0).tile;
  const uint32_t address = kernel::CommonArgument(1);
  const uint32_t bytes = kernel::CommonArgument(2);
  const uint32_t pattern = kernel::CommonArgument(3);
  for (uint32_t word = 0; word < kChunk / 4; ++word) zoo::Staging()[word] = pattern;
  for (uint32_t at = 0; at < bytes; at += kChunk) {
    kernel::Write(abi::kCircularBufferAddress, {tile, address + at},
                  bytes - at < kChunk ? bytes - at : kChunk);
    kernel::WriteBarrier();
  }
}
