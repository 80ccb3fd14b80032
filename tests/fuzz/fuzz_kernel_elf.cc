// Fuzz target: any bytes as a client's kernel ELF. What is accepted is within the limits and inside its own image.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/abi/kernel_image.h"
#include "runtime/boot/kernel_elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto image = ttfd::LoadKernel({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (image.ok() && (*image)->bytes.size() > ttfd::abi::kMaxKernelImageBytes) std::abort();
  return 0;
}
