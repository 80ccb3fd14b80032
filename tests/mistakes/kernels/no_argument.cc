// The launch gives fewer words.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const uint32_t first = Argument(1);
  *L1Pointer<volatile uint32_t>(CommonArgument(2)) = first;
}
