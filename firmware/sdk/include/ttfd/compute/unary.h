// Functions of each number of a tile of Dst, by the vector unit: <name>_tile_init(), then <name>_tile(tile) after
// copy_tile or any operation with a result in Dst.
//
// Error: of the result in Dst, relative to the exact function of the 32-bit number. Packed to bfloat16, the result is one
// of the two neighbours of the exact value, or the exact value, for every number in bfloat16.
//
//   function  error  0      +Inf   -Inf   remarks
//   exp       1e-5   1      +Inf   0      overflow to +Inf, underflow to 0 (there are no denormals)
//   recip     1e-6   Inf    0      -0     of the sign of 0; 0 from 2 ^ 126 on
//   sqrt      3e-5   0      +Inf   NaN    NaN for all negative numbers
//   rsqrt     3e-5   +Inf   0      NaN    NaN for all negative numbers
//   sigmoid   7e-5   1/2    1      0
//   silu      7e-5   0      +Inf   0      x * sigmoid(x)
//   tanh      1e-4   0      1      -1
//   gelu      2e-4   0      +Inf   0      x * (1 + erf(x / sqrt(2))) / 2; error of the part added to max(x, 0)
//   log       2e-5   -Inf   +Inf   NaN    NaN for all negative numbers; natural logarithm
//   relu, abs, neg, square: exact, of square the nearest number
//
// A NaN in Dst is treated as infinity of its sign, by abs and neg as itself. The matrix unit and the packer make it
// infinity, so tiles in circular buffers have none.
#pragma once

#include <ttfd/compute/vector.h>

namespace ttfd::compute {

namespace internal {

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

// With the estimate's error e, the correcting factor is 1 + e + e * e. The estimate for 0 is infinity, and 0 for infinity:
// the factor is NaN, of which the minimum with 2 makes 2.
inline void Recip(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    Push<SFPARECIP{}.lreg_dest(1).lreg_c(0)>();
    SubtractProduct<2, 0, 1, kOne>();
    Add<3, 2, kOne>();
    MultiplyAdd<2, 2, 3, kOne>();
    AtMost<2, 2.0f, 3>();
    Multiply<1, 1, 2>();
    StoreAndStep<1>();
  });
}

// Register 1 = 1 / sqrt(register 0), for numbers above 0: an estimate from the exponent's half, and one step whose
// constants are fitted to the estimate's error. Of 0 a large number, of infinity infinity.
inline void SetRootConstants() {
  SetBits<4, 0x5F1110A0>();
  Set<5, 2.2533045f>();
  Set<6, 2.2825183f>();
}
inline void ReciprocalRoot() {
  Move<1, 0>();
  ShiftBits<1, -1>();
  SubtractBitsFrom<1, 4>();
  Multiply<2, 0, 1>();
  MultiplyNegated<2, 2, 1>();
  Add<3, 2, 5>();
  MultiplyAdd<3, 2, 3, 6>();
  Multiply<1, 1, 3>();
}

inline void Sqrt(uint32_t tile) {
  SetRootConstants();
  ForEachVector(tile, [] {
    Load<0>();
    Add<0, 0, kZero>();  // -0 and denormals become 0
    ReciprocalRoot();
    Multiply<1, 1, 0>();
    WhereNegative<0>();
    SetBits<1, kNan>();
    EveryLane();
    StoreAndStep<1>();
  });
}

inline void Rsqrt(uint32_t tile) {
  SetRootConstants();
  SetBits<7, kInfinity>();
  ForEachVector(tile, [] {
    Load<0>();
    Add<0, 0, kZero>();  // -0 and denormals become 0
    ReciprocalRoot();
    WhereNegative<0>();
    SetBits<1, kNan>();
    EveryLane();
    WhereZeroBits<0>();
    SetBits<1, kInfinity>();
    EveryLane();
    WhereAtLeast<7, 0>();
    SetBits<1, 0>();
    EveryLane();
    StoreAndStep<1>();
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

// max(x, 0) - g, where with a = |x| g = a * exp(-a * a / 2) * r(a), and r is a quotient of polynomials. From 13.1875 on g
// is less than the smallest number.
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

// x = m * 2 ^ e with m near 1: e * log(2) + log(m), the latter a polynomial in f = m - 1 times f.
inline void Log(uint32_t tile) {
  Set<4, 0.69314718f>();
  Set<5, -0.25392475f>();
  Set<6, 0.33271392f>();
  Set<7, -0.49991496f>();
  ForEachVector(tile, [] {
    Load<0>();
    Add<0, 0, kZero>();  // -0 and denormals become 0
    SetBits<1, 0x3F350000>();  // the smallest m
    SubtractBitsFrom<1, 0>();
    ShiftRightArithmetic<1, 23>();  // e
    Move<2, 1>();
    ShiftBits<2, 23>();
    SubtractBitsFrom<2, 0>();  // m
    Subtract<2, 2, kOne>();    // f
    Push<SFPCAST{}.lreg_dest(1).lreg_c(1).instr_mod(3)>();  // to sign and magnitude, then to a float
    Push<SFPCAST{}.lreg_dest(1).lreg_c(1).instr_mod(0)>();
    Set<3, -0.142578125f>();
    Multiply<3, 3, 2>();
    Add<3, 0.2197265625f>();
    MultiplyAdd<3, 3, 2, 5>();
    MultiplyAdd<3, 3, 2, 6>();
    MultiplyAdd<3, 3, 2, 7>();
    MultiplyAdd<3, 3, 2, kOne>();
    Multiply<3, 3, 2>();
    MultiplyAdd<1, 1, 4, 3>();
    SetBits<2, kInfinity>();
    WhereAtLeast<2, 0>();
    Move<1, 0>();
    EveryLane();
    WhereNegative<0>();
    SetBits<1, kNan>();
    EveryLane();
    WhereZeroBits<0>();
    SetBits<1, kMinusInfinity>();
    EveryLane();
    StoreAndStep<1>();
  });
}

inline void Relu(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    AtLeast<0, 0.0f, 1>();
    StoreAndStep<0>();
  });
}
inline void Abs(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    Absolute<0, 0>();
    StoreAndStep<0>();
  });
}
inline void Neg(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    Negate<0, 0>();
    StoreAndStep<0>();
  });
}
inline void Square(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    Multiply<0, 0, 0>();
    StoreAndStep<0>();
  });
}

// A function of two tiles, by `kTwo`: register 0 becomes its result for registers 0 and 1.
template <void (*kTwo)()>
void Combine(uint32_t tile0, uint32_t tile1, uint32_t to) {
  const SFPLOAD load = SFPLOAD{}.instr_mod(kFloat32Dst).addr_mode(kAddrModNoStep);
  const SFPSTORE store = SFPSTORE{}.instr_mod(kFloat32Dst).addr_mode(kAddrModNextVector);
  ForEachVector(0, [=] {
    internal::Push(load.lreg(0).dest_reg_addr(tile0 * kTileRows));
    internal::Push(load.lreg(1).dest_reg_addr(tile1 * kTileRows));
    kTwo();
    internal::Push(store.lreg(0).dest_reg_addr(to * kTileRows));
  });
}

}  // namespace internal

// Nothing is kept from one function to the next: each sets its constants itself.
#define TTFD_COMPUTE_UNARY(name, function)                   \
  inline void name##_tile_init() {}                          \
  inline void name##_tile(uint32_t dst) {                    \
    if constexpr (kComputes) internal::function(dst);        \
  }
TTFD_COMPUTE_UNARY(exp, Exp)
TTFD_COMPUTE_UNARY(recip, Recip)
TTFD_COMPUTE_UNARY(sqrt, Sqrt)
TTFD_COMPUTE_UNARY(rsqrt, Rsqrt)
TTFD_COMPUTE_UNARY(sigmoid, Sigmoid)
TTFD_COMPUTE_UNARY(silu, Silu)
TTFD_COMPUTE_UNARY(tanh, Tanh)
TTFD_COMPUTE_UNARY(gelu, Gelu)
TTFD_COMPUTE_UNARY(log, Log)
TTFD_COMPUTE_UNARY(relu, Relu)
TTFD_COMPUTE_UNARY(abs, Abs)
TTFD_COMPUTE_UNARY(square, Square)
#undef TTFD_COMPUTE_UNARY
inline void negative_tile_init() {}
inline void negative_tile(uint32_t dst) {
  if constexpr (kComputes) internal::Neg(dst);
}

// Sum, difference and product of two tiles of Dst, which keep all 32 bits.
inline void add_binary_tile_init() {}
inline void add_binary_tile(uint32_t dst0, uint32_t dst1, uint32_t to) {
  if constexpr (kComputes) internal::Combine<internal::Add<0, 0, 1>>(dst0, dst1, to);
}
inline void sub_binary_tile_init() {}
inline void sub_binary_tile(uint32_t dst0, uint32_t dst1, uint32_t to) {
  if constexpr (kComputes) internal::Combine<internal::Subtract<0, 0, 1>>(dst0, dst1, to);
}
inline void mul_binary_tile_init() {}
inline void mul_binary_tile(uint32_t dst0, uint32_t dst1, uint32_t to) {
  if constexpr (kComputes) internal::Combine<internal::Multiply<0, 0, 1>>(dst0, dst1, to);
}

}  // namespace ttfd::compute
