// Adds squares up: something for a debugger to stop in. BRISC. Common arguments: 0 L1 address of the sum;
// 1 how many numbers, from 0 on.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

[[gnu::noinline]] uint32_t Square(uint32_t number) {
  const uint32_t product = number * number;
  return product;
}

void kernel_main() {
  auto* const sum = L1Pointer<volatile uint32_t>(CommonArgument(0));
  const uint32_t count = CommonArgument(1);
  for (uint32_t number = 0; number < count; ++number) {
    *sum = *sum + Square(number);
  }
}
