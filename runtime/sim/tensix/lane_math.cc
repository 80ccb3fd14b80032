// The multiplier-adder of a lane, in integers.
#include "runtime/sim/tensix/lane_math.h"

#include <algorithm>

namespace ttfd::sim::tensix {
namespace {

constexpr uint32_t kGuardBits = 3;

// A number of binary32; mantissa 0: zero.
struct Number {
  uint32_t sign;  // kSignBit32 or 0
  int32_t exponent;
  uint32_t mantissa;  // with the hidden bit

  bool is_infinite_or_nan() const { return exponent == 255; }
  bool is_nan() const { return exponent == 255 && mantissa != 0x800000; }
  bool is_infinite() const { return exponent == 255 && mantissa == 0x800000; }
};

Number NumberOf(uint32_t bits) {
  const auto exponent = static_cast<int32_t>(ExponentOf(bits));
  return {bits & kSignBit32, exponent, exponent == 0 ? 0 : (bits & kMantissa32) | 0x800000};
}

// Shifts right. A bit that is lost leaves bit 0 set, unless nothing is left of the number.
template <typename T>
uint32_t ShiftSticky(T value, uint32_t distance) {
  if (distance >= 8 * sizeof(T)) return 0;
  const T shifted = value >> distance;
  const bool lost = (shifted << distance) != value;
  return static_cast<uint32_t>(shifted) | (lost && shifted != 0 ? 1 : 0);
}

uint32_t MultiplyAddSpecial(const Number& x, const Number& y, const Number& z, uint32_t sign) {
  const bool product_infinite = x.is_infinite_or_nan() || y.is_infinite_or_nan();
  const bool invalid_product =
      (x.is_infinite() && y.mantissa == 0) || (y.is_infinite() && x.mantissa == 0);
  if (x.is_nan() || y.is_nan() || z.is_nan() || invalid_product) return kDefaultNan;
  if (!z.is_infinite()) return sign | kExponent32;
  return product_infinite && z.sign != sign ? kDefaultNan : z.sign | kExponent32;
}

// `magnitude` has its leading one at bit 26 or elsewhere, where `exponent` says how much bit 26 is worth.
uint32_t Normalise(uint32_t sign, int32_t exponent, uint32_t magnitude) {
  int32_t distance = 5 - std::countl_zero(magnitude);
  exponent += distance;
  if (exponent >= 255) return sign | kExponent32;
  if (exponent <= 0) {
    ++distance;
    exponent = 0;
  }
  if (distance <= 0) {
    magnitude <<= -distance;
  } else {
    const bool lost = (magnitude & (static_cast<uint32_t>(distance) | 1)) != 0;
    magnitude = magnitude >> distance | (lost ? 1 : 0);
  }
  uint32_t result =
      (static_cast<uint32_t>(exponent) << 23) + (magnitude >> kGuardBits & kMantissa32);
  if ((magnitude & 7) + (result & 1) > 4) ++result;
  return result >> 23 == 0 ? sign : sign | result;
}

}  // namespace

uint32_t MultiplyAdd(uint32_t x_bits, uint32_t y_bits, uint32_t z_bits) {
  const Number x = NumberOf(x_bits);
  const Number y = NumberOf(y_bits);
  const Number z = NumberOf(z_bits);
  const uint32_t sign = x.sign ^ y.sign;
  const int32_t exponent = x.exponent + y.exponent - 127;
  if (x.is_infinite_or_nan() || y.is_infinite_or_nan() || z.is_infinite_or_nan() ||
      exponent >= 255) {
    return MultiplyAddSpecial(x, y, z, sign);
  }
  const uint64_t exact = uint64_t{x.mantissa} * y.mantissa << kGuardBits;
  uint64_t product = exact >> 23 | ((exact & kMantissa32) != 0 ? 1 : 0);
  uint32_t addend = z.mantissa << kGuardBits;
  if (product == 0 || exponent < 0) return addend != 0 ? z_bits : z.sign & sign;
  const int32_t larger = std::max(exponent, z.exponent);
  const uint32_t p = ShiftSticky(product, static_cast<uint32_t>(larger - exponent));
  addend = ShiftSticky(addend, static_cast<uint32_t>(larger - z.exponent));
  const uint32_t magnitude = sign == z.sign ? p + addend : p >= addend ? p - addend : addend - p;
  if (magnitude == 0) return z.sign & sign;
  return Normalise(p >= addend ? sign : z.sign, larger, magnitude);
}

uint32_t ApproximateReciprocal(uint32_t bits) {
  // Seven bits of 2 / (1 + i / 128) - 1, for the leading bits i of a mantissa.
  static constexpr uint8_t kMantissas[128] = {
      127, 125, 123, 121, 119, 117, 116, 114, 112, 110, 109, 107, 105, 104, 102, 100, 99, 97, 96,
      94,  93,  91,  90,  88,  87,  85,  84,  83,  81,  80,  79,  77,  76,  75,  74,  72, 71, 70,
      69,  68,  66,  65,  64,  63,  62,  61,  60,  59,  58,  57,  56,  55,  54,  53,  52, 51, 50,
      49,  48,  47,  46,  45,  44,  43,  42,  41,  40,  40,  39,  38,  37,  36,  35,  35, 34, 33,
      32,  31,  31,  30,  29,  28,  28,  27,  26,  25,  25,  24,  23,  23,  22,  21,  21, 20, 19,
      19,  18,  17,  17,  16,  15,  15,  14,  14,  13,  12,  12,  11,  11,  10,  9,   9,  8,  8,
      7,   7,   6,   5,   5,   4,   4,   3,   3,   2,   2,   1,   1,   0};
  const uint32_t sign = bits & kSignBit32;
  const uint32_t exponent = ExponentOf(bits);
  if (exponent == 0) return sign | kExponent32;
  if (exponent >= 253) return sign;
  return sign | (253 - exponent) << 23 | uint32_t{kMantissas[bits >> 16 & 127]} << 16;
}

uint32_t IntegerToFloat(uint32_t bits) {
  const uint32_t sign = bits & kSignBit32;
  return sign | std::bit_cast<uint32_t>(static_cast<float>(bits & ~kSignBit32));
}

}  // namespace ttfd::sim::tensix
