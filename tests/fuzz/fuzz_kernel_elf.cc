// Fuzz target: any bytes as a client's kernel ELF. What is accepted is within the limits and inside its own image, and
// so are the names it has for its addresses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/abi/kernel_image.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/elf/symbol_table.h"

namespace {

// All of SymbolLimits together, with room for what the containers take.
constexpr uint64_t kMaxSymbolBytes = 2 << 20;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto image = ttfd::LoadKernel({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!image.ok()) return 0;
  if ((*image)->bytes.size() > ttfd::abi::kMaxKernelImageBytes) std::abort();
  const ttfd::SymbolTable& symbols = *(*image)->symbols;
  if (symbols.bytes() > kMaxSymbolBytes) std::abort();
  for (uint32_t offset = 0; offset < (*image)->bytes.size(); offset += 4) {
    symbols.Find((*image)->symbol_base + offset);
  }
  return 0;
}
