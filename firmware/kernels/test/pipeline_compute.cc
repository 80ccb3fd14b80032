// Second of three harts: takes pages from circular buffer 0, puts 3 x + 1 of every word into circular
// buffer 1. Any TRISC.
//
// Per core: 0 number of pages.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer in(0);
  CircularBuffer out(1);
  const uint32_t words = in.page_bytes() / 4;
  for (uint32_t count = Argument(0); count != 0; --count) {
    const auto* const from = L1Pointer<const uint32_t>(in.Wait());
    auto* const to = L1Pointer<uint32_t>(out.Reserve());
    for (uint32_t i = 0; i != words; ++i) {
      to[i] = 3 * from[i] + 1;
    }
    in.Pop();
    out.Push();
  }
}
