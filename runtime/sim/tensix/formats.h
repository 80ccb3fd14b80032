// Formats of tiles in L1, and conversions between formats as pure functions. Exact: the same bits as ttsim 1.10.0.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kSignBit32 = 0x80000000;
inline constexpr uint32_t kExponent32 = 0x7F800000;
inline constexpr uint16_t kSignBit16 = 0x8000;
inline constexpr uint16_t kExponent16 = 0x7F80;  // of bfloat16

constexpr bool IsNan32(uint32_t bits) { return (bits & ~kSignBit32) > kExponent32; }

// Bytes of a datum, without the exponent that 16 datums of Bfp8_b share.
constexpr uint32_t DatumBytes(hw::tensix::Format format) {
  switch (format) {
    case hw::tensix::Format::kFloat32:
    case hw::tensix::Format::kTf32:
      return 4;
    case hw::tensix::Format::kBfp8B:
      return 1;
    default:
      return 2;
  }
}

// The formats in which the matrix unit and moves can read a source. All but TF32 have 7 bits of mantissa there.
constexpr bool IsComputedFormat(hw::tensix::Format format) {
  return format == hw::tensix::Format::kFloat16B || format == hw::tensix::Format::kTf32 ||
         format == hw::tensix::Format::kBfp8B || format == hw::tensix::Format::kFloat32;
}

// Unpacked: datums where binary32 has its bits. Cut off, not rounded.
constexpr uint32_t Float32AsTf32(uint32_t bits) { return bits & 0xFFFFE000; }
constexpr uint32_t Float32AsBFloat16(uint32_t bits) {
  return (bits & kExponent32) == 0 ? bits & kSignBit32 : bits & 0xFFFF0000;
}
// `bits`: a sign and a magnitude of 7 bits, of which the highest has the value 2^(exponent - 127). -0 is -infinity. An
// exponent that becomes negative wraps.
constexpr uint32_t Bfp8AsFloat32(uint32_t bits, uint32_t exponent) {
  const uint32_t sign = bits >> 7 << 31;
  const auto magnitude = static_cast<int32_t>(bits & 0x7F);
  if (magnitude == 0) return sign == 0 ? 0 : sign | kExponent32;
  constexpr uint32_t kBias = 127 + 6;  // of the lowest bit
  const auto number = std::bit_cast<uint32_t>(static_cast<float>(magnitude));
  return sign | ((number + (exponent - kBias) * 0x800000) & ~kSignBit32);
}

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

// A 32-bit datum of Dst as the packer sees it whose in format is Bfp8_b: cut off to bfloat16, then rounded to an even
// one, halves away from zero. NaN is infinity; a result with exponent 0 is +0.
constexpr uint16_t PackFloat32AsEvenBFloat16(uint32_t bits) {
  const uint32_t infinity = (bits & kSignBit32) >> 16 | kExponent16;
  const uint32_t rounded = ((bits >> 16) + 1) & 0xFFFE;
  const uint32_t flushed = (rounded & 0x7FFF) < 0x80 ? 0 : rounded;
  return static_cast<uint16_t>(IsNan32(bits) ? infinity : flushed);
}

// A 32-bit datum cut off to bfloat16; one with exponent 0 is +0.
constexpr uint16_t CutToBFloat16(uint32_t bits) {
  return static_cast<uint16_t>((bits & kExponent32) == 0 ? 0 : bits >> 16);
}

// A bfloat16 as the datum of a row whose largest exponent is `exponent`: rounded to nearest, halves away from zero.
constexpr uint8_t PackBfp8(uint16_t bits, uint32_t exponent) {
  const uint32_t own = bits >> 7 & 0xFF;
  const uint32_t distance = exponent - own;
  if (distance >= 8) return 0;
  const uint32_t mantissa =
      (bits & 0x7F) | (own != 0 ? 0x80 : 0);  // a threshold of ReLU may be denormal
  const uint32_t rounded = (mantissa + (1u << distance)) >> (distance + 1);
  const uint32_t magnitude = rounded > 127 ? 127 : rounded;
  return static_cast<uint8_t>(magnitude == 0 ? 0 : magnitude | (bits >> 15) << 7);
}

}  // namespace ttfd::sim::tensix
