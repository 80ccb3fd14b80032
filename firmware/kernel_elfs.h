// The ELF files of the kernels in firmware/kernels, embedded, for tests and benchmarks. Clients read the files
// themselves: build/<preset>/firmware/kernels/<name>.elf; those of the examples are installed to share/ttfd/kernels.
#pragma once

#include <string_view>

#include "runtime/base/bytes.h"

namespace ttfd {

// The file of kernel `name`; empty if there is none.
ByteSpan KernelElf(std::string_view name);

}  // namespace ttfd
