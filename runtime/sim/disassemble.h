// Instructions in assembler language.
#pragma once

#include <cstdint>
#include <string>

namespace ttfd::sim {

// As GNU objdump writes it with -M no-aliases, without tabs: "addi a0,a1,-1", "lw a0,8(sp)",
// "beq a0,a1,0x1040". What the harts do not know is ".word 0x...".
std::string Disassemble(uint32_t word, uint32_t pc);

// "zero", "ra", ...: the names of the calling convention. `reg` is below 32.
const char* RegisterName(uint32_t reg);

}  // namespace ttfd::sim
