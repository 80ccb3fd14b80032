// Calls the program's callable kernels. BRISC.
//
// Common arguments: 0 L1 address of the reports, 32 bytes for each call; then four words for the arguments of the
// called kernels: 0 the address of its report, 1 100 + the number of the call. Arguments: 0 number of calls, then a
// word for each call: the callable kernel. Word 7 of a report is word 0 as the caller finds it when the call has
// returned.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t report = CommonArgument(0);
  const uint32_t calls = Argument(0);
  Caller caller(1, 4);
  for (uint32_t i = 0; i != calls; ++i) {
    caller.SetArgument(0, report + 32 * i);
    caller.SetArgument(1, 100 + i);
    caller.Call(Argument(1 + i));
    auto* const words = L1Pointer<volatile uint32_t>(report + 32 * i);
    words[7] = words[0];
  }
}
