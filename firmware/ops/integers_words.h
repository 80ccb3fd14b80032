// Common words of the kernel of the family integers; words.h has what all families have in common.
#pragma once

#include <stdint.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// Functions of 32-bit integers without a sign: those of Combine, and these.
enum class IntegerFunction : uint32_t {
  kAnd = 0x20,
  kOr,
  kXor,
  kShiftLeft,  // 0 from 32 bits on
  kShiftRight,
  kNot,  // of one input, as the rest
  // To bfloat16 and float32, halves away from zero; from them, towards zero and modulo 2^32.
  kToBFloat16,
  kToFloat32,
  kFromBFloat16,
  kFromFloat32
};

// Elements of tensors in layout row-major with equal shapes. Item row * chunks + i is elements kIntegerChunk * i, ...
// of a row. Circular buffer 0 has a chunk for each input and for the output, and up to 63 bytes for their alignment.
inline constexpr uint32_t kIntegerInputs = 2;
inline constexpr uint32_t kIntegerChunk = 1024;
inline constexpr uint32_t kIntegerChunkBytes = kIntegerChunk * sizeof(uint32_t);

struct Integers {
  Cores cores;
  uint32_t function;  // Combine or IntegerFunction
  uint32_t columns;   // of a row
  uint32_t chunks;    // of a row
  uint32_t inputs;
  struct Operand {
    uint32_t address;
    uint32_t unit_bytes;  // of an element, 2 or 4
  } input[kIntegerInputs], output;
};

}  // namespace ttfd::ops
