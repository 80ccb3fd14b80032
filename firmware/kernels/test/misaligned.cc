// Loads a word from an odd address, in a function that is inlined. NCRISC. No arguments.
#include <ttfd/kernel.h>

namespace {

[[gnu::always_inline]] inline uint32_t LoadOdd(uint32_t address) {
  uint32_t value = 0;
  asm volatile("lw %0, 1(%1)" : "=r"(value) : "r"(address) : "memory");
  return value;
}

}  // namespace

void kernel_main() {
  for (uint32_t i = 0; i < 4; ++i) LoadOdd(ttfd::abi::kBufferAddress);
}
