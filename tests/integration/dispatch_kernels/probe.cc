// Tells what it was given. Common: 0 L1 address of its words, 1.. anything. Per core: anything.
//
// Writes hart, x, y, a run count (from .data, so 1 on every run), common words 1 to 3, per-core words
// 0 to 3, and the value of semaphore 0 if there is one per common word 3.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {
uint32_t runs = 1;
uint32_t never_kept;
}  // namespace

void kernel_main() {
  volatile uint32_t* const out = L1Pointer<volatile uint32_t>(CommonArgument(0) + 64 * kHart);
  const Position position = OwnPosition();
  out[0] = kHart;
  out[1] = position.x;
  out[2] = position.y;
  out[3] = runs++ + never_kept++;
  for (uint32_t i = 0; i < 3; ++i) out[4 + i] = CommonArgument(1 + i);
  for (uint32_t i = 0; i < 4; ++i) out[7 + i] = Argument(i);
  out[11] = CommonArgument(3) != 0 ? Semaphore(Optional(0)).value() : 0;
}
