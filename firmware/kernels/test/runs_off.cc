// Runs off the end of its code: a function without a return, with data behind it. BRISC. No arguments.
#include <ttfd/kernel.h>

namespace {

// No instruction is encoded so.
uint32_t behind_the_code[4] = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};

// Not among the code, where other functions could come behind it.
[[gnu::naked, gnu::noinline, gnu::section(".rodata.last")]] void LastFunction() {
  asm volatile("addi a0, a0, 1");
}

}  // namespace

void kernel_main() {
  asm volatile("" ::"r"(behind_the_code) : "memory");
  LastFunction();
}
