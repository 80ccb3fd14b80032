// Functions of each number of a tile of Dst, by the vector unit: <name>_tile_init(), then <name>_tile(tile) after
// copy_tile or any operation with a result in Dst.
//
// Error: of the result in Dst, relative to the exact function of the 32-bit number. Packed to bfloat16, the result is
// one of the two neighbours of the exact value, or the exact value, for every number in bfloat16.
//
//   function  error  0      +Inf   -Inf   remarks
//   exp       1e-5   1      +Inf   0      overflow to +Inf, underflow to 0 (there are no denormals)
//   recip     3e-7   Inf    0      -0     of the sign of 0; 0 from 2 ^ 126 on
//   sqrt      3e-5   0      +Inf   NaN    NaN for all negative numbers
//   rsqrt     3e-5   +Inf   0      NaN    NaN for all negative numbers
//   sigmoid   4e-5   1/2    1      0
//   silu      4e-5   0      +Inf   0      x * sigmoid(x)
//   tanh      1e-4   0      1      -1
//   erf       1e-4   0      1      -1
//   gelu      1e-4   0      +Inf   0      x * (1 + erf(x / sqrt(2))) / 2; below 2 ^ -125 within 2 ^ -126
//   log       1e-5   -Inf   +Inf   NaN    NaN for all negative numbers; natural logarithm
//   sin, cos  1e-5   0, 1   NaN    NaN    below 2 ^ 17 in magnitude; NaN from there on
//   atan      5e-5   0      pi/2   -pi/2
//   floor     0      0      +Inf   -Inf   of -0 and denormals 0
//   relu, abs, negative, square: exact, of square the nearest number
//
// With a number that the kernel gets when it runs, as the bits of a 32-bit float: <name>_tile(tile, bits).
//
//   function    error  remarks
//   add_unary   6e-8   the nearest number to the sum; Inf - Inf is NaN
//   mul_unary   6e-8   the nearest number to the product; 0 * Inf is NaN
//   unary_max   0      the greater one of both; 0 is greater than -0
//   unary_min   0      the smaller one of both
//
// The result for a NaN is not specified. The matrix unit and, to bfloat16, the packer make it infinity of its sign:
// copy_tile brings a NaN to Dst from Float32 only, and one of this table is packed as NaN to Float32 only.
#pragma once

#include <ttfd/compute/algebraic.h>
#include <ttfd/compute/exponential.h>
#include <ttfd/compute/trigonometric.h>

namespace ttfd::compute {

// Nothing is kept from one function to the next: each sets its constants itself.
#define TTFD_COMPUTE_UNARY(name, function)            \
  inline void name##_tile_init() {}                   \
  inline void name##_tile(uint32_t dst) {             \
    if constexpr (kComputes) internal::function(dst); \
  }
TTFD_COMPUTE_UNARY(exp, Exp)
TTFD_COMPUTE_UNARY(recip, Recip)
TTFD_COMPUTE_UNARY(sqrt, Sqrt)
TTFD_COMPUTE_UNARY(rsqrt, Rsqrt)
TTFD_COMPUTE_UNARY(sigmoid, Sigmoid)
TTFD_COMPUTE_UNARY(silu, Silu)
TTFD_COMPUTE_UNARY(tanh, Tanh)
TTFD_COMPUTE_UNARY(erf, Erf)
TTFD_COMPUTE_UNARY(gelu, Gelu)
TTFD_COMPUTE_UNARY(log, Log)
TTFD_COMPUTE_UNARY(relu, Relu)
TTFD_COMPUTE_UNARY(abs, Abs)
TTFD_COMPUTE_UNARY(square, Square)
TTFD_COMPUTE_UNARY(sin, Sine<false>)
TTFD_COMPUTE_UNARY(cos, Sine<true>)
TTFD_COMPUTE_UNARY(atan, Atan)
TTFD_COMPUTE_UNARY(floor, Floor)
#undef TTFD_COMPUTE_UNARY
inline void negative_tile_init() {}
inline void negative_tile(uint32_t dst) {
  if constexpr (kComputes) internal::Neg(dst);
}

#define TTFD_COMPUTE_SCALAR(name, function)                 \
  inline void name##_tile(uint32_t dst, uint32_t bits) {    \
    if constexpr (kComputes) internal::function(dst, bits); \
  }
TTFD_COMPUTE_SCALAR(add_unary, AddScalar)
TTFD_COMPUTE_SCALAR(mul_unary, MultiplyScalar)
TTFD_COMPUTE_SCALAR(unary_max, MaximumScalar)
TTFD_COMPUTE_SCALAR(unary_min, MinimumScalar)
#undef TTFD_COMPUTE_SCALAR
inline void binop_with_scalar_tile_init() {}  // of add_unary_tile, mul_unary_tile
inline void unary_max_tile_init() {}
inline void unary_min_tile_init() {}

// Rounds the numbers of a tile of Dst to bfloat16, halves away from zero, where `kOut` is Float16_b or Bfp8_b and `kIn`
// is Float32: values of DataFormat. Dst keeps 32 bits, and the format that is written is that of the circular buffer.
// The packer cuts off to bfloat16 for Bfp8_b what has not been rounded.
template <uint32_t kIn, uint32_t kOut>
void typecast_tile_init() {}
template <uint32_t kIn, uint32_t kOut>
void typecast_tile(uint32_t dst) {
  constexpr auto kIsKnown = [](uint32_t format) {
    return format == static_cast<uint32_t>(DataFormat::Float32) ||
           format == static_cast<uint32_t>(DataFormat::Float16_b) ||
           format == static_cast<uint32_t>(DataFormat::Bfp8_b);
  };
  static_assert(kIsKnown(kIn) && kIsKnown(kOut), "Float32, Float16_b and Bfp8_b are known");
  constexpr bool kRounds = kIn == static_cast<uint32_t>(DataFormat::Float32) && kOut != kIn;
  if constexpr (kComputes && kRounds) internal::RoundToBFloat16(dst);
}

}  // namespace ttfd::compute
