// Adds common word 2 to the first word of page `per-core 0` of the DRAM buffer at common 0 with pages
// of common 1 bytes, common word 3 clocks after it began. A lost ordering between launches, writes and
// reads loses an addition, and so does a launch whose words are overwritten while it waits.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {
alignas(16) volatile uint32_t line[32];
}  // namespace

void kernel_main() {
  const uint64_t start = WallClock();
  while (WallClock() - start < CommonArgument(3)) {
  }
  const InterleavedBuffer buffer(CommonArgument(0), CommonArgument(1));
  const uint32_t raw = reinterpret_cast<uint32_t>(line);
  const uint32_t place = (raw + 63) & ~63u;  // reads of DRAM keep addresses equal modulo 64
  Read(buffer.Page(Argument(0)), place, 16);
  ReadBarrier();
  volatile uint32_t* const word = L1Pointer<volatile uint32_t>(place);
  *word = *word + CommonArgument(2);
  Write(place, buffer.Page(Argument(0)), 16);
}
