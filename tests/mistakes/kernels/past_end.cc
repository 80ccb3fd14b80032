// Doubles the numbers of some pages of a buffer, which may be more than the buffer has.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const InterleavedBuffer numbers(CommonArgument(0), 2048);
  const uint32_t scratch = CircularBuffer(0).address();
  const uint32_t end = CommonArgument(1) + CommonArgument(2);  // first page, how many
  for (uint32_t page = CommonArgument(1); page != end; ++page) {
    Read(numbers.Page(page), scratch, 2048);
    ReadBarrier();
    uint32_t* const words = L1Pointer<uint32_t>(scratch);
    for (uint32_t i = 0; i != 2048 / 4; ++i) words[i] *= 2;
    Write(scratch, numbers.Page(page), 2048);
    WritesFlushedBarrier();
  }
}
