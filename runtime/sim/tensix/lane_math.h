// Arithmetic of one lane of the vector unit, as pure functions. Exact: the same bits as ttsim 1.10.0.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/sim/tensix/formats.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kMantissa32 = 0x007FFFFF;
inline constexpr uint32_t kOne = 0x3F800000;  // 1.0
inline constexpr uint32_t kDefaultNan = 0x7FC00000;

constexpr uint32_t ExponentOf(uint32_t bits) { return bits >> 23 & 0xFF; }
constexpr uint32_t WithExponent(uint32_t bits, uint32_t exponent) {
  return (bits & ~kExponent32) | (exponent & 0xFF) << 23;
}

// x * y + z on binary32. Not a fused operation: the product keeps three bits more than binary32. Denormal operands are
// 0, a result below the smallest normal number is 0 with its sign, and NaNs are kDefaultNan.
uint32_t MultiplyAdd(uint32_t x, uint32_t y, uint32_t z);

// About 1/x, to 7 bits.
uint32_t ApproximateReciprocal(uint32_t bits);

// A signed key that orders numbers as binary32 does, -NaN first, +NaN last, -0 before +0.
constexpr int32_t TotalOrder(uint32_t bits) {
  const auto value = static_cast<int32_t>(bits);
  return value ^ (value >> 31 & 0x7FFFFFFF);
}

// Rounded to bfloat16, halves away from zero: exponent 0 is +0, NaN is infinity.
constexpr uint32_t RoundToBFloat16(uint32_t bits) {
  if (ExponentOf(bits) == 0) return 0;
  if (ExponentOf(bits) == 255) return bits & ~kMantissa32;
  return (bits + 0x8000) & 0xFFFF0000;
}

// A sign-magnitude integer of at most `max`, rounded to nearest, halves away from zero. Without `is_signed` the sign is
// dropped; 0 has none.
constexpr uint32_t RoundToInteger(uint32_t bits, uint32_t max, bool is_signed) {
  const auto exponent = static_cast<int32_t>(ExponentOf(bits)) - 127;
  uint32_t magnitude = 0;
  if (exponent >= 16) {
    magnitude = max;
  } else if (exponent >= -1) {
    const uint32_t mantissa = (bits & kMantissa32) | 0x800000;
    magnitude = ((mantissa >> (22 - exponent)) + 1) >> 1;
    if (magnitude > max) magnitude = max;
  }
  return is_signed && magnitude != 0 ? (bits & kSignBit32) | magnitude : magnitude;
}

// A sign-magnitude integer as binary32, rounded to nearest even.
uint32_t IntegerToFloat(uint32_t bits);

// Sign-magnitude to two's complement, and back.
constexpr uint32_t ChangeIntegerSign(uint32_t bits) {
  return (bits & kSignBit32) == 0 ? bits : (0u - bits) | kSignBit32;
}

}  // namespace ttfd::sim::tensix
