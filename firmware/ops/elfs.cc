// The table of embedded ELF files of operations; its rows are made from the list in CMakeLists.txt.
#include "firmware/ops/elfs.h"

#define TTFD_KERNEL(name)                                \
  extern const std::byte operation_elf_##name##_begin[]; \
  extern const std::byte operation_elf_##name##_end[];
extern "C" {
#include "operation_table.inc"
}
#undef TTFD_KERNEL

namespace ttfd::ops {
namespace {

#define TTFD_KERNEL(name) #name,
constexpr std::string_view kNames[] = {
#include "operation_table.inc"
};
#undef TTFD_KERNEL

}  // namespace

std::span<const std::string_view> OperationElfNames() { return kNames; }

std::span<const std::byte> OperationElf(std::string_view name) {
#define TTFD_KERNEL(kernel)                                                \
  if (name == #kernel) {                                                   \
    return {operation_elf_##kernel##_begin, operation_elf_##kernel##_end}; \
  }
#include "operation_table.inc"
#undef TTFD_KERNEL
  return {};
}

}  // namespace ttfd::ops
