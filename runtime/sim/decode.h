// From instruction words to Decoded.
#pragma once

#include <cstdint>

#include "runtime/sim/encoding.h"
#include "runtime/sim/tile_memory.h"

namespace ttfd::sim {

// Decodes the word at `pc` (a multiple of 4 inside L1). Leaves `handler` to the interpreter.
Decoded Decode(uint32_t word, uint32_t pc);

}  // namespace ttfd::sim
