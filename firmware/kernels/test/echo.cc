// Writes down what the SDK tells it. Any hart.
//
// Common arguments: 0 L1 address of the report, 64 bytes a hart; 1 any word. Per core: 0, 1 any words.
// Report: magic 0xEC40, hart, logical x, logical y, common argument 1, per-core arguments 0 and 1, low
// word of the wall clock.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  auto* const report = L1Pointer<volatile uint32_t>(CommonArgument(0) + 64 * kHart);
  const Position own = OwnPosition();
  report[0] = 0xEC40;
  report[1] = kHart;
  report[2] = own.x;
  report[3] = own.y;
  report[4] = CommonArgument(1);
  report[5] = Argument(0);
  report[6] = Argument(1);
  report[7] = static_cast<uint32_t>(WallClock());
}
