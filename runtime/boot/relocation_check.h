// Whether a block of code and data still works when it is moved: a look at its relocations.
#pragma once

#include "runtime/base/status.h"
#include "runtime/elf/elf_file.h"

namespace ttfd {

// INVALID_ARGUMENT, naming the symbol, where a word or an instruction of an allocated section holds
// an absolute address of something that moves, or where nothing tells (no relocation sections).
Status CheckRelocations(const ElfFile& elf);

}  // namespace ttfd
