// TRISC1: functions with exp in them, for <ttfd/compute/unary.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/vector.h>

namespace ttfd::compute::internal {

inline constexpr float kLog2E = 1.44269504f;

inline void Exp(uint32_t tile) {
  Set<4, kLog2E>();
  SetPowerConstants();
  ForEachVector(tile, [] {
    Load<0>();
    Multiply<0, 0, 4>();
    AtMost<0, 128.0f, 1>();
    AtLeast<0, -127.0f, 1>();
    PowerOf2<2>();
    StoreAndStep<2>();
  });
}

// 1 / (1 + exp(-x)). Below -88 it is less than the smallest number.
inline void Sigmoid(uint32_t tile) {
  Set<4, -kLog2E>();
  SetPowerConstants();
  ForEachVector(tile, [] {
    Load<0>();
    AtLeast<0, -88.0f, 1>();
    Multiply<0, 0, 4>();
    AtLeast<0, -127.0f, 1>();
    PowerOf2<2>();
    Add<2, 2, kOne>();
    Reciprocal<0, 2>();
    StoreAndStep<0>();
  });
}

// With e = exp(-|x|): x / (1 + e), times e where x is negative. A factor 2 ^ 8 keeps e above the smallest number where
// the result is.
inline void Silu(uint32_t tile) {
  Set<4, -kLog2E>();
  SetPowerConstants();
  ForEachVector(tile, [] {
    Load<3>();
    AtLeast<3, -93.0f, 1>();
    Absolute<0, 3>();
    AtMost<0, 93.0f, 1>();
    Multiply<0, 0, 4>();
    Add<0, 8.0f>();
    PowerOf2<2>();
    Move<1, 2>();
    MultiplyBy<1, 1.0f / 256>();
    Add<1, 1, kOne>();
    Reciprocal<0, 1>();
    Multiply<0, 0, 3>();
    WhereNegative<3>();
    Multiply<0, 0, 2>();
    MultiplyBy<0, 1.0f / 256>();
    EveryLane();
    StoreAndStep<0>();
  });
}

// x times a quotient of polynomials in x * x. From 5 on it is constant, near 1.
inline void Tanh(uint32_t tile) {
  Set<3, 0.99994805f>();
  Set<4, 0.10241774f>();
  Set<5, 0.00067056690f>();
  Set<6, 0.43543255f>();
  Set<7, 0.012819902f>();
  ForEachVector(tile, [] {
    Load<0>();
    AtMost<0, 5.0f, 1>();
    AtLeast<0, -5.0f, 1>();
    Multiply<1, 0, 0>();
    MultiplyAdd<2, 1, 5, 4>();
    MultiplyAdd<2, 2, 1, 3>();
    Multiply<0, 0, 2>();
    MultiplyAdd<2, 1, 7, 6>();
    MultiplyAdd<1, 2, 1, kOne>();
    Reciprocal<2, 1>();
    Multiply<0, 0, 2>();
    StoreAndStep<0>();
  });
}

// x times a quotient of polynomials in x * x. From 3 on it is constant, near 1.
inline void Erf(uint32_t tile) {
  Set<3, 0.029702375f>();
  Set<4, 0.18975385f>();
  Set<5, 1.1283192f>();
  Set<6, 0.095329679f>();
  Set<7, 0.50066013f>();
  ForEachVector(tile, [] {
    Load<0>();
    AtMost<0, 3.0f, 1>();
    AtLeast<0, -3.0f, 1>();
    Multiply<1, 0, 0>();
    MultiplyAdd<2, 1, 3, 4>();
    MultiplyAdd<2, 2, 1, 5>();
    Multiply<0, 0, 2>();
    Set<2, 0.0034287081f>();
    MultiplyAdd<2, 2, 1, 6>();
    MultiplyAdd<2, 2, 1, 7>();
    MultiplyAdd<1, 2, 1, kOne>();
    Reciprocal<2, 1>();
    Multiply<0, 0, 2>();
    StoreAndStep<0>();
  });
}

// max(x, 0) - g, where with a = |x| g = a * exp(-a * a / 2) * r(a), and r is a quotient of polynomials. From 13.1875
// on g is less than the smallest number.
inline void Gelu(uint32_t tile) {
  Set<4, -kLog2E / 2>();
  SetPowerConstants();
  ForEachVector(tile, [] {
    Load<0>();
    Absolute<0, 0>();
    AtMost<0, 13.1875f, 1>();
    Set<1, 0.06201171875f>();
    Set<3, 0.27861771f>();
    MultiplyAdd<1, 1, 0, 3>();
    Multiply<1, 1, 0>();
    Add<1, 0.5f>();
    Multiply<1, 1, 0>();
    Set<2, 0.1552734375f>();
    Multiply<2, 2, 0>();
    Add<2, 0.703125f>();
    Set<3, 1.3552716f>();
    MultiplyAdd<2, 2, 0, 3>();
    MultiplyAdd<2, 2, 0, kOne>();
    Reciprocal<3, 2>();
    Multiply<3, 3, 1>();
    Multiply<0, 0, 0>();
    Multiply<0, 0, 4>();
    PowerOf2<2>();
    Multiply<2, 2, 3>();
    Load<0>();
    AtLeast<0, 0.0f, 1>();
    Subtract<0, 0, 2>();
    StoreAndStep<0>();
  });
}

}  // namespace ttfd::compute::internal
