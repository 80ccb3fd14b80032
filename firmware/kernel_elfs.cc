// The table of embedded kernel ELF files; its rows are made from the list in kernels/CMakeLists.txt.
#include "firmware/kernel_elfs.h"

#define TTFD_KERNEL(name)                             \
  extern const std::byte kernel_elf_##name##_begin[]; \
  extern const std::byte kernel_elf_##name##_end[];
extern "C" {
#include "kernel_table.inc"
}
#undef TTFD_KERNEL

namespace ttfd {

ByteSpan KernelElf(std::string_view name) {
#define TTFD_KERNEL(kernel)                                                  \
  if (name == #kernel) {                                                     \
    return ByteSpan(kernel_elf_##kernel##_begin, kernel_elf_##kernel##_end); \
  }
#include "kernel_table.inc"
#undef TTFD_KERNEL
  return {};
}

}  // namespace ttfd
