// The embedded ELF files of meshes.
#include "firmware/mesh/elfs.h"

extern "C" {
extern const std::byte mesh_elf_ring_sender_begin[];
extern const std::byte mesh_elf_ring_sender_end[];
extern const std::byte mesh_elf_ring_receiver_begin[];
extern const std::byte mesh_elf_ring_receiver_end[];
}

namespace ttfd::mesh {

std::span<const std::byte> RingSenderElf() {
  return {mesh_elf_ring_sender_begin, mesh_elf_ring_sender_end};
}

std::span<const std::byte> RingReceiverElf() {
  return {mesh_elf_ring_receiver_begin, mesh_elf_ring_receiver_end};
}

}  // namespace ttfd::mesh
