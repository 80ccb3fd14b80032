// Reads what a kernel needs from its ELF file (abi/resource_use.h).
#pragma once

#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/program.h"
#include "runtime/elf/elf_file.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {

// By resource, then index; each once, with the place of its first use. INVALID_ARGUMENT where an index is one that no
// program or launch can give, or where the section is no list of entries. Pure and thread-safe.
StatusOr<std::vector<KernelNeed>> ReadKernelNeeds(const ElfFile& elf, const SymbolTable& symbols);

}  // namespace ttfd
