// The bits and the unit of each opcode of the Tensix engine.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"

namespace ttfd::sim::tensix {

struct Opcode {
  uint32_t known_bits = 0;  // of its fields, and the opcode; 0: there is no such instruction
  hw::tensix::Unit unit = hw::tensix::Unit::kFrontEnd;
};

inline constexpr auto kOpcodes = [] {
  std::array<Opcode, 256> opcodes{};
#define FIELD(name, low, bits) | hw::tensix::Field{low, bits}.mask()
#define TENSIX(name, opcode, unit, ...) \
  opcodes[opcode] = {0xFF000000 __VA_ARGS__, hw::tensix::Unit::unit};
#include "runtime/hw/tensix_instructions.inc"
#undef TENSIX
#undef FIELD
  return opcodes;
}();

constexpr const Opcode& OpcodeAt(uint32_t instruction) {
  return kOpcodes[hw::tensix::OpcodeOf(instruction)];
}

}  // namespace ttfd::sim::tensix
