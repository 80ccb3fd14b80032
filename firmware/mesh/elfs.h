// The ELF files of the kernels of collective operations, embedded.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ttfd::mesh {

// The file of a kernel: ring_sender_<lane>, ring_receiver_<lane>, adder_reader, fold_reader, adder_writer,
// adder_compute_trisc0, _trisc1 or _trisc2. Empty: there is none of that name.
std::span<const std::byte> MeshElf(std::string_view name);

}  // namespace ttfd::mesh
