// TRISC1: roots, the logarithm and functions without a series, for <ttfd/compute/unary.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/vector.h>

namespace ttfd::compute::internal {

// With the estimate's error e, the correcting factor is 1 + e + e * e. The estimate for 0 is infinity, and 0 for
// infinity: the factor is NaN, of which the minimum with 2 makes 2.
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

inline void RoundToBFloat16(uint32_t tile) {
  ForEachVector(tile, [] {
    Load<0>();
    Push<SFP_STOCH_RND{}.lreg_dest(0).lreg_c(0).instr_mod(1)>();
    StoreAndStep<0>();
  });
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

// x = m * 2 ^ e with m near 1: e * log(2) + log(m), the latter a polynomial in f = m - 1 times f.
inline void Log(uint32_t tile) {
  Set<4, 0.69314718f>();
  Set<5, -0.25392475f>();
  Set<6, 0.33271392f>();
  Set<7, -0.49991496f>();
  ForEachVector(tile, [] {
    Load<0>();
    Add<0, 0, kZero>();        // -0 and denormals become 0
    SetBits<1, 0x3F350000>();  // the smallest m
    SubtractBitsFrom<1, 0>();
    ShiftRightArithmetic<1, 23>();  // e
    Move<2, 1>();
    ShiftBits<2, 23>();
    SubtractBitsFrom<2, 0>();  // m
    Subtract<2, 2, kOne>();    // f
    Push<SFPCAST{}.lreg_dest(1).lreg_c(1).instr_mod(
        3)>();  // to sign and magnitude, then to a float
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

// The nearest integer, with the magnitude's bits below 1 rounded away by 2 ^ 23, is at most 1 too great. From 2 ^ 23 on
// a number has no such bits.
inline void Floor(uint32_t tile) {
  Set<4, 8388608.0f>();
  ForEachVector(tile, [] {
    Load<0>();
    Add<0, 0, kZero>();  // -0 and denormals become 0
    Absolute<1, 0>();
    Add<2, 1, 4>();
    Subtract<2, 2, 4>();
    Move<3, 0>();
    Push<SFPSETSGN{}.lreg_dest(3).lreg_c(2)>();  // register 2 with the sign of register 3
    WhereGreater<3, 0>();
    Add<3, -1.0f>();
    EveryLane();
    WhereAtLeast<4, 1>();
    Move<3, 0>();
    EveryLane();
    StoreAndStep<3>();
  });
}

// Functions of each number and register 4, which holds `bits`.
template <typename Step>
void ForEachWithScalar(uint32_t tile, uint32_t bits, Step step) {
  SetBits<4>(bits);
  ForEachVector(tile, step);
}
inline void AddScalar(uint32_t tile, uint32_t bits) {
  ForEachWithScalar(tile, bits, [] {
    Load<0>();
    Add<0, 0, 4>();
    StoreAndStep<0>();
  });
}
inline void MultiplyScalar(uint32_t tile, uint32_t bits) {
  ForEachWithScalar(tile, bits, [] {
    Load<0>();
    Multiply<0, 0, 4>();
    StoreAndStep<0>();
  });
}
inline void MaximumScalar(uint32_t tile, uint32_t bits) {
  ForEachWithScalar(tile, bits, [] {
    Load<0>();
    Move<1, 4>();
    Sort<1, 0>();
    StoreAndStep<0>();
  });
}
inline void MinimumScalar(uint32_t tile, uint32_t bits) {
  ForEachWithScalar(tile, bits, [] {
    Load<0>();
    Move<1, 4>();
    Sort<0, 1>();
    StoreAndStep<0>();
  });
}

}  // namespace ttfd::compute::internal
