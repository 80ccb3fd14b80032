// Calls itself until its stack is too small.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

[[gnu::noinline]] uint32_t Sum(uint32_t depth) {
  volatile uint32_t words[16] = {depth};
  return depth == 0 ? 0 : Sum(depth - 1) + words[0];
}

}  // namespace

void kernel_main() { *L1Pointer<volatile uint32_t>(0x9F000) = Sum(CommonArgument(0)); }
