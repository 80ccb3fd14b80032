// The instructions of the cores as a table: every row of runtime/sim/instructions.inc.
#pragma once

#include <cstdint>

namespace ttfd::testing {

struct InstructionRow {
  const char* name;
  uint32_t match;
  uint32_t mask;
};

inline constexpr InstructionRow kInstructionRows[] = {
#define I(name, match, mask, format, ...) {#name, match, mask},
#include "runtime/sim/instructions.inc"
#undef I
};

}  // namespace ttfd::testing
