// Uses more stack than there is. BRISC and TRISC0. Common arguments: 0 how deep to call itself; at 0 it only
// writes all words between its stack and the end of local RAM.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

constexpr uint32_t kWords = 32;

[[gnu::noinline]] uint32_t Deeper(uint32_t depth) {
  volatile uint32_t frame[kWords];
  frame[depth % kWords] = depth;
  if (depth == 0) return 0;
  return Deeper(depth - 1) + frame[depth % kWords];
}

}  // namespace

void kernel_main() {
  const uint32_t depth = CommonArgument(0);
  if (depth != 0) {
    Deeper(depth);
    return;
  }
  uint32_t top = 0;
  asm volatile("mv %0, sp" : "=r"(top));
  for (uint32_t word = ttfd::hw::kLocalRamAddress; word != top; word += 4) {
    *reinterpret_cast<volatile uint32_t*>(word) = 0;
  }
}
