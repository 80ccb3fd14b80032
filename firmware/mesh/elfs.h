// The ELF files of the kernels of meshes, embedded.
#pragma once

#include <cstddef>
#include <span>

namespace ttfd::mesh {

std::span<const std::byte> RingSenderElf();    // for NCRISC
std::span<const std::byte> RingReceiverElf();  // for BRISC

}  // namespace ttfd::mesh
