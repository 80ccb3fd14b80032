// How instructions are encoded: which row of instructions.inc a word is, and its fields.
#pragma once

#include <cstdint>

namespace ttfd::sim {

enum class Operation : uint8_t {
  kNotDecoded,
#define I(name, match, mask, format, ...) k##name,
#include "runtime/sim/instructions.inc"
#undef I
  kTensix,
  kIllegal,
  kCount,
};

enum class Format : uint8_t {
  kNone,
  kRegister,
  kImmediate,
  kShift,
  kStore,
  kBranch,
  kUpper,
  kUpperPc,
  kJump,
  kCsr,           // immediate: the CSR's number
  kCsrImmediate,  // the same, and rs2: the 5-bit operand
};

struct Encoding {
  Operation operation;
  const char* name;  // of the row
  uint32_t match;
  uint32_t mask;
  Format format;
};

// Null: no instruction is encoded so, or its low bits mark a Tensix instruction.
const Encoding* FindEncoding(uint32_t word);

// Which register fields a format has.
struct Operands {
  bool rd;
  bool rs1;
  bool rs2;
};
Operands OperandsOf(Format format);

constexpr uint32_t RdOf(uint32_t word) { return (word >> 7) & 31; }
constexpr uint32_t Rs1Of(uint32_t word) { return (word >> 15) & 31; }
constexpr uint32_t Rs2Of(uint32_t word) { return (word >> 20) & 31; }

// The immediate, sign-extended; of branches and jumps the distance in bytes; of kUpper and kUpperPc the upper 20 bits
// where they belong.
uint32_t ImmediateOf(Format format, uint32_t word);

}  // namespace ttfd::sim
