// Functions of two tiles of Dst, number by number, by the vector unit: <name>_tile_init(), then
// <name>_tile(dst0, dst1, to) after copy_tile or any operation with results in Dst. `to` may be one of the two.
//
// Error: of the result in Dst, relative to the exact function of the 32-bit numbers. There are no denormals: they count
// as 0, and what would be one is 0.
//
//   function    error  remarks
//   add_binary  6e-8   the nearest number, as are the next two
//   sub_binary  6e-8   Inf - Inf is NaN
//   mul_binary  6e-8   0 * Inf is NaN
//   div_binary  5e-7   x / 0 is Inf of the sign of x and 0; x / Inf is 0; 0 / 0 and Inf / Inf are NaN. Packed to
//                      bfloat16 one of the two neighbours of the exact value, or the exact value
//   binary_max  0      0 is greater than -0
//   binary_min  0
//   add_int32    0      integers of two's complement, modulo 2^32: of tiles that copy_tile brought from a buffer of
//                      Float32, which changes no bits
//   eq_binary, ne_binary, lt_binary, le_binary, gt_binary, ge_binary
//               0      1 where dst0 ==, !=, <, <=, >, >= dst1, else 0; 0 and -0 are equal
//
// The result for a NaN is not specified. where_tile(condition, dst0, dst1, to) takes the number of dst0 where that of
// `condition` is neither 0 nor -0, else the number of dst1: without a change, but that a denormal is stored as 0.
#pragma once

#include <ttfd/compute/combine.h>

namespace ttfd::compute {

// Nothing is kept from one function to the next: each sets its constants itself.
#define TTFD_COMPUTE_BINARY(name, ...)                                 \
  inline void name##_tile_init() {}                                    \
  inline void name##_tile(uint32_t dst0, uint32_t dst1, uint32_t to) { \
    if constexpr (kComputes) internal::__VA_ARGS__(dst0, dst1, to);    \
  }
TTFD_COMPUTE_BINARY(add_binary, Combine<internal::Add<0, 0, 1>>)
TTFD_COMPUTE_BINARY(sub_binary, Combine<internal::Subtract<0, 0, 1>>)
TTFD_COMPUTE_BINARY(mul_binary, Combine<internal::Multiply<0, 0, 1>>)
TTFD_COMPUTE_BINARY(div_binary, Divide)
TTFD_COMPUTE_BINARY(binary_max, Combine<internal::Greater>)
TTFD_COMPUTE_BINARY(binary_min, Combine<internal::Smaller>)
TTFD_COMPUTE_BINARY(add_int32, Combine<internal::AddBits<0, 1>, internal::kBitsOfDst>)
TTFD_COMPUTE_BINARY(eq_binary, Combine<internal::IsEqual>)
TTFD_COMPUTE_BINARY(ne_binary, Combine<internal::IsUnequal>)
TTFD_COMPUTE_BINARY(lt_binary, CombineReversed<internal::IsGreater>)
TTFD_COMPUTE_BINARY(le_binary, Combine<internal::IsAtMost>)
TTFD_COMPUTE_BINARY(gt_binary, Combine<internal::IsGreater>)
TTFD_COMPUTE_BINARY(ge_binary, CombineReversed<internal::IsAtMost>)
#undef TTFD_COMPUTE_BINARY

inline void where_tile_init() {}
inline void where_tile(uint32_t condition, uint32_t dst0, uint32_t dst1, uint32_t to) {
  if constexpr (kComputes) internal::Where(condition, dst0, dst1, to);
}

}  // namespace ttfd::compute
