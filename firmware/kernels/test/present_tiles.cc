// Pushes tiles that lie in circular buffers already, for the kernel that pops them. Any hart.
//
// Common arguments: 0 number of circular buffers, from index 0; 1 tiles in each: at most its pages.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  for (uint32_t index = 0; index != CommonArgument(0); ++index) {
    CircularBuffer tiles(index);
    tiles.Reserve(CommonArgument(1));
    tiles.Push(CommonArgument(1));
  }
}
