// Entry points of kernels: the base firmware calls the entry point, which calls kernel_main(). kernel.ld takes the
// one of the two here that the kernel needs.
#if TTFD_COMPUTE
#include <ttfd/compute.h>
#endif
#include <ttfd/kernel.h>

namespace {

#if TTFD_COMPUTE
// A compute kernel starts with what all its functions need, and ends with its thread of the engine idle: a launch that
// is reported done has left the engine.
[[gnu::noinline]] void RunKernel() {
  ttfd::compute::internal::Start();
  kernel_main();
  ttfd::kernel::Synchronize();
}
#else
constexpr void (*RunKernel)() = kernel_main;
#endif

}  // namespace

// Entry of kernels without a NoC command in their code: most of what a small one costs would be the wait below.
extern "C" [[gnu::section(".text.start.plain"), gnu::used]] void ttfd_start_plain(
    const ttfd::abi::KernelContext* context) {
  asm volatile("mv tp, %0" ::"r"(context) : "memory");
  RunKernel();
}

// Entry of all other kernels.
extern "C" [[gnu::section(".text.start.await"), gnu::used]] void ttfd_start_and_await(
    const ttfd::abi::KernelContext* context) {
  using namespace ttfd::kernel;
  asm volatile("mv tp, %0" ::"r"(context) : "memory");
  RunKernel();
  // Done means landed. Reads are waited for too: one under way would write into the next program.
  internal::Buffer::AwaitFree();
  ttfd::firmware::WaitUntil(ttfd::abi::kWaypointNoc, [] {
    return (internal::Outstanding(internal::kReadId) |
            internal::Outstanding(internal::kReadId + 1) |
            internal::Outstanding(internal::kWriteId) |
            internal::Outstanding(internal::kAtomicId)) == 0;
  });
}
