// Reports the format of each circular buffer. Any hart.
//
// Common arguments: 0 L1 address of the report, a word a circular buffer: its format, or 0xFF without one; 1 number of
// circular buffers.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  auto* const report = L1Pointer<volatile uint32_t>(CommonArgument(0));
  for (uint32_t index = 0; index != CommonArgument(1); ++index) {
    const CircularBuffer buffer(index);
    report[index] = buffer.has_format() ? static_cast<uint32_t>(buffer.format()) : 0xFF;
  }
}
