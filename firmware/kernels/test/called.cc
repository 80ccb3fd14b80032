// Called by call.cc: reports its argument, and what its .data and .bss hold, to the L1 address in argument 0. BRISC.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

uint32_t in_data = 41;
uint32_t in_bss;

}  // namespace

void kernel_main() {
  const uint32_t report = Argument(0);
  const Semaphore given(0);
  auto* const staging = L1Pointer<volatile uint32_t>(report + 16);
  staging[0] = Argument(1);
  staging[1] = ++in_data;
  staging[2] = ++in_bss;
  staging[3] = given.value();
  Write(report + 16, OnTile(OwnPosition(), report), 16);
}
