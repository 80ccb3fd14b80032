// Uses an index that an argument gives. Per core: 0 the resource (abi::Resource), 1 the index.
#include <ttfd/kernel.h>

using namespace ttfd;
using namespace ttfd::kernel;

// Nothing calls it, so the linker drops it, and what it uses with it.
void SetSemaphoreNine() { Semaphore(9).Set(1); }

void kernel_main() {
  const uint32_t index = Argument(1);
  switch (Argument(0)) {
    case abi::kCircularBuffer:
      firmware::Load(CircularBuffer(index).address());
      break;
    case abi::kSemaphore:
      Semaphore(index).value();
      break;
    case abi::kArgument:
      Argument(index);
      break;
    default:
      CommonArgument(index);
  }
}
