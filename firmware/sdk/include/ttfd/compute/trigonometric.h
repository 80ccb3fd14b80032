// TRISC1: sine, cosine and the inverse tangent, for <ttfd/compute/unary.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/vector.h>

namespace ttfd::compute::internal {

// Numbers of this magnitude and above have no result: one number in bfloat16 is many periods away from the next.
inline constexpr float kSineBound = 131072.0f;  // 2 ^ 17

// With h = q, or q - 1/2 for the cosine, and an integer q: r = x - h * pi is between -pi / 2 and pi / 2, and the result
// is sin(r), with the opposite sign where q is odd. Adding 1.5 * 2 ^ 23 rounds to the integer, whose parity is the
// sum's lowest bit.
//
// pi is the sum of three numbers. The first two have 8 bits and h has 18 at most: their products with h have no more
// than the 27 bits that a product keeps, and the differences are exact. sin(r) is a polynomial of degree 7.
template <bool kCosine>
void Sine(uint32_t tile) {
  Set<4, 0.318309886f>();  // 1 / pi
  Set<5, -1.27951568e-6f>();
  Set<6, -0.16665772f>();
  Set<7, 0.0083130337f>();
  ForEachVector(tile, [] {
    Load<0>();
    Multiply<1, 0, 4>();
    if constexpr (kCosine) Add<1, 0.5f>();
    Add<1, 12582912.0f>();
    Move<2, 1>();
    Add<2, -12582912.0f>();
    if constexpr (kCosine) Add<2, -0.5f>();
    Set<3, 3.140625f>();
    SubtractProduct<0, 2, 3, 0>();
    Set<3, 0.00096893310546875f>();
    SubtractProduct<0, 2, 3, 0>();
    SubtractProduct<0, 2, 5, 0>();  // r
    ShiftBits<1, 31>();
    Multiply<2, 0, 0>();
    Set<3, -0.0001850128173828125f>();
    MultiplyAdd<3, 3, 2, 7>();
    MultiplyAdd<3, 3, 2, 6>();
    Multiply<3, 3, 2>();
    MultiplyAdd<3, 3, 0, 0>();
    Push<SFPXOR{}.lreg_dest(3).lreg_c(1)>();
    Load<0>();
    Absolute<0, 0>();
    Set<1, kSineBound>();
    WhereAtLeast<1, 0>();
    SetBits<3, kNan>();
    EveryLane();
    StoreAndStep<3>();
  });
}

// With a = min(|x|, 1) / max(|x|, 1): a * p(a * a), a polynomial of degree 6, and where |x| is above 1 the rest to
// pi / 2.
inline void Atan(uint32_t tile) {
  Set<4, -0.33329555f>();
  Set<5, 0.19904985f>();
  Set<6, -0.13559205f>();
  Set<7, 1.57079633f>();
  ForEachVector(tile, [] {
    Load<0>();
    Absolute<0, 0>();
    Move<2, 0>();
    AtLeast<2, 1.0f, 1>();
    AtMost<2, 0x1p100f, 1>();
    Reciprocal<3, 2>();
    AtMost<0, 1.0f, 1>();
    Multiply<0, 0, 3>();
    Multiply<1, 0, 0>();
    Set<2, 0.00811767578125f>();
    Multiply<2, 2, 1>();
    Add<2, -0.037841796875f>();
    Multiply<2, 2, 1>();
    Add<2, 0.0849609375f>();
    MultiplyAdd<2, 2, 1, 6>();
    MultiplyAdd<2, 2, 1, 5>();
    MultiplyAdd<2, 2, 1, 4>();
    MultiplyAdd<2, 2, 1, kOne>();
    Multiply<2, 2, 0>();
    Load<3>();
    Absolute<1, 3>();
    Set<0, 1.0f>();
    WhereGreater<1, 0>();
    Subtract<2, 7, 2>();
    EveryLane();
    Push<SFPSETSGN{}.lreg_dest(3).lreg_c(2)>();  // register 2 with the sign of register 3
    StoreAndStep<3>();
  });
}

}  // namespace ttfd::compute::internal
