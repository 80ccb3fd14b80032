// A task with a configuration that reports what it sees, for tests. BRISC.
//
// Common arguments: 0 a DRAM buffer of pages of 64 bytes, 1 the page for the report, 2 a number, 3 the index of a
// circular buffer. Report: the number, pages, page bytes and format word of the circular buffer, its counts.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  CircularBuffer space(CommonArgument(3));
  auto* const report = L1Pointer<uint32_t>(space.Reserve());
  space.Push();
  space.Wait();
  report[0] = CommonArgument(2);
  report[1] = space.pages();
  report[2] = space.page_bytes();
  report[3] = CircularBuffer::FormatWordOf(CommonArgument(3));
  report[4] = space.HasSpace(space.pages());  // no: the page that was pushed, and stays
  Write(L1AddressOf(report), InterleavedBuffer(CommonArgument(0), 64).Page(CommonArgument(1)), 64);
}
