// Tensix instructions as text.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/hw/tensix_isa.h"

namespace ttfd::sim::tensix {

// "MVMUL dst=8 addr_mode=1": the public name, and the fields that are not 0. An unknown opcode is ".ttinsn 0x...".
std::string Disassemble(uint32_t instruction);

}  // namespace ttfd::sim::tensix
