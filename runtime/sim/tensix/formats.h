// Conversions between formats, as pure functions. Exact: the same bits as ttsim 1.10.0.
#pragma once

#include <cstdint>

namespace ttfd::sim::tensix {

inline constexpr uint32_t kSignBit32 = 0x80000000;
inline constexpr uint32_t kExponent32 = 0x7F800000;
inline constexpr uint16_t kSignBit16 = 0x8000;
inline constexpr uint16_t kExponent16 = 0x7F80;  // of bfloat16

constexpr bool IsNan32(uint32_t bits) { return (bits & ~kSignBit32) > kExponent32; }

// A bfloat16 of Dst as the packer sees it: NaN is infinity, a datum with exponent 0 is +0.
constexpr uint16_t PackBFloat16(uint16_t bits) {
  const auto magnitude = static_cast<uint16_t>(bits & 0x7FFF);
  if (magnitude > kExponent16) return static_cast<uint16_t>((bits & kSignBit16) | kExponent16);
  return magnitude < 0x80 ? uint16_t{0} : bits;
}

// A 32-bit datum of Dst as bfloat16 for the packer: rounded to nearest, halves away from zero. NaN is infinity, and so
// is a number that rounds beyond the largest one; a result with exponent 0 is +0.
constexpr uint16_t PackFloat32AsBFloat16(uint32_t bits) {
  const uint32_t infinity = (bits & kSignBit32) >> 16 | kExponent16;
  const uint32_t rounded = (bits + 0x8000) >> 16;
  const uint32_t flushed = (rounded & 0x7FFF) < 0x80 ? 0 : rounded;
  return static_cast<uint16_t>(IsNan32(bits) ? infinity : flushed);
}

}  // namespace ttfd::sim::tensix
