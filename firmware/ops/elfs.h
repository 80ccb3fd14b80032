// The ELF files of the kernels of operations, embedded.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ttfd::ops {

// Names of the kernels. Each family that computes: <family>_reader, <family>_compute_trisc0, _trisc1 and _trisc2; all
// of these but attention, which has attention_writer: tile_writer. Each of the families move, argmax and integers: the
// kernel of that name.
std::span<const std::string_view> OperationElfNames();

// The file of kernel `name`; empty if there is none.
std::span<const std::byte> OperationElf(std::string_view name);

}  // namespace ttfd::ops
