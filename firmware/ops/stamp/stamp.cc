// Writes the time into memory. BRISC, words Stamp.
#include <ttfd/kernel.h>

#include "firmware/ops/stamp_words.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

void kernel_main() {
  const uint64_t now = WallClock();
  const auto& words = CommonArguments<Stamp>();
  const uint32_t from = (CircularBuffer(0).address() + kStampBytes - 1) & ~(kStampBytes - 1);
  *L1Pointer<uint64_t>(from) = now;
  Write(from, InterleavedBuffer(words.address, kStampBytes).Page(words.index), sizeof(now));
}
