// What every kernel starts with: the base firmware calls _start, which calls kernel_main().
#include <ttfd/kernel.h>

extern "C" [[gnu::section(".text.start"), gnu::used]] void _start(
    const ttfd::abi::KernelContext* context) {
  using namespace ttfd::kernel;
  asm volatile("mv tp, %0" ::"r"(context) : "memory");
  kernel_main();
  // Done means landed. Reads are waited for too: one under way would write into the next program.
  internal::Buffer::AwaitFree();
  ttfd::firmware::WaitUntil(ttfd::abi::kWaypointNoc, [] {
    return (internal::Outstanding(internal::kReadId) |
            internal::Outstanding(internal::kReadId + 1) |
            internal::Outstanding(internal::kWriteId) |
            internal::Outstanding(internal::kAtomicId)) == 0;
  });
}
