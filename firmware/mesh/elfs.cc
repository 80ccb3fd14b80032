// The table of embedded ELF files of meshes; its rows are made from the list in CMakeLists.txt.
#include "firmware/mesh/elfs.h"

#define TTFD_KERNEL(name)                           \
  extern const std::byte mesh_elf_##name##_begin[]; \
  extern const std::byte mesh_elf_##name##_end[];
extern "C" {
#include "mesh_table.inc"
}
#undef TTFD_KERNEL

namespace ttfd::mesh {

std::span<const std::byte> MeshElf(std::string_view name) {
#define TTFD_KERNEL(kernel)                                      \
  if (name == #kernel) {                                         \
    return {mesh_elf_##kernel##_begin, mesh_elf_##kernel##_end}; \
  }
#include "mesh_table.inc"
#undef TTFD_KERNEL
  return {};
}

}  // namespace ttfd::mesh
