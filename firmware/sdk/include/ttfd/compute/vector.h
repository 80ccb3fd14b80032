// Building blocks of functions of the vector unit (SFPU), on TRISC1.
//
// The unit has 32 lanes and registers of a 32-bit number for each. A vector is four rows of eight columns, the even
// or the odd ones, of a face of Dst: 32 vectors make a tile. Registers 0 to 3 are for intermediate results, 4 to 7
// for constants.
//
// Its multiply-add is not fused: the product keeps three bits more than a number. It has no denormals, and has NaN.
// Maximum and minimum order -NaN below -infinity and +NaN above +infinity.
#pragma once

#include <ttfd/compute/math.h>

namespace ttfd::compute::internal {

inline constexpr uint32_t kVectors = 32;
inline constexpr uint32_t kZero = 9;  // registers that hold 0 and 1
inline constexpr uint32_t kOne = 10;
inline constexpr uint32_t kFloat32Dst = 3;  // instr_mod of SFPLOAD and SFPSTORE
inline constexpr uint32_t kBitsOfDst = 4;   // the same for 32 bits as they are

inline constexpr uint32_t kInfinity = 0x7F800000;
inline constexpr uint32_t kMinusInfinity = 0xFF800000;
inline constexpr uint32_t kNan = 0x7FC00000;

// Vector at the counter of Dst, or `row` rows on.
template <uint32_t kTo, uint32_t kRow = 0>
void Load() {
  Push<SFPLOAD{}.lreg(kTo).instr_mod(kFloat32Dst).addr_mode(kAddrModNoStep).dest_reg_addr(kRow)>();
}
template <uint32_t kFrom, uint32_t kRow = 0>
void Store() {
  Push<SFPSTORE{}
           .lreg(kFrom)
           .instr_mod(kFloat32Dst)
           .addr_mode(kAddrModNoStep)
           .dest_reg_addr(kRow)>();
}
// The counter of Dst steps to the next vector.
template <uint32_t kFrom, uint32_t kRow = 0>
void StoreAndStep() {
  Push<SFPSTORE{}
           .lreg(kFrom)
           .instr_mod(kFloat32Dst)
           .addr_mode(kAddrModNextVector)
           .dest_reg_addr(kRow)>();
}

constexpr uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }

// Bits of a number in all lanes. One instruction where the low 16 bits are 0, as of numbers in bfloat16.
template <uint32_t kTo, uint32_t kBits>
void SetBits() {
  if constexpr ((kBits & 0xFFFF) == 0) {
    Push<SFPLOADI{}.lreg(kTo).instr_mod(0).imm16(kBits >> 16)>();
  } else {
    Push<SFPLOADI{}.lreg(kTo).instr_mod(8).imm16(kBits >> 16)>();
    Push<SFPLOADI{}.lreg(kTo).instr_mod(10).imm16(kBits & 0xFFFF)>();
  }
}
template <uint32_t kTo, float kValue>
void Set() {
  SetBits<kTo, BitsOf(kValue)>();
}
// The same for a number that is made at run time.
template <uint32_t kTo>
[[gnu::noinline]] void SetBits(uint32_t bits) {
  internal::Push(SFPLOADI{}.lreg(kTo).instr_mod(8).imm16(bits >> 16));
  internal::Push(SFPLOADI{}.lreg(kTo).instr_mod(10).imm16(bits & 0xFFFF));
}

// to = a * b + c
template <uint32_t kTo, uint32_t kA, uint32_t kB, uint32_t kC>
void MultiplyAdd() {
  Push<SFPMAD{}.lreg_dest(kTo).lreg_a(kA).lreg_b(kB).lreg_c(kC)>();
}
// to = c - a * b
template <uint32_t kTo, uint32_t kA, uint32_t kB, uint32_t kC>
void SubtractProduct() {
  Push<SFPMAD{}.lreg_dest(kTo).lreg_a(kA).lreg_b(kB).lreg_c(kC).instr_mod(1)>();
}
template <uint32_t kTo, uint32_t kA, uint32_t kB>
void Multiply() {
  Push<SFPMUL{}.lreg_dest(kTo).lreg_a(kA).lreg_b(kB).lreg_c(kZero)>();
}
// to = -(a * b)
template <uint32_t kTo, uint32_t kA, uint32_t kB>
void MultiplyNegated() {
  Push<SFPMUL{}.lreg_dest(kTo).lreg_a(kA).lreg_b(kB).lreg_c(kZero).instr_mod(1)>();
}
template <uint32_t kTo, uint32_t kA, uint32_t kB>
void Add() {
  Push<SFPADD{}.lreg_dest(kTo).lreg_a(kOne).lreg_b(kA).lreg_c(kB)>();
}
// to = a - b
template <uint32_t kTo, uint32_t kA, uint32_t kB>
void Subtract() {
  Push<SFPADD{}.lreg_dest(kTo).lreg_a(kOne).lreg_b(kA).lreg_c(kB).instr_mod(2)>();
}
// A constant in bfloat16, without a register.
template <uint32_t kTo, float kValue>
void MultiplyBy() {
  static_assert((BitsOf(kValue) & 0xFFFF) == 0, "a constant in bfloat16");
  Push<SFPMULI{}.lreg_dest(kTo).imm16(BitsOf(kValue) >> 16)>();
}
template <uint32_t kTo, float kValue>
void Add() {
  static_assert((BitsOf(kValue) & 0xFFFF) == 0, "a constant in bfloat16");
  Push<SFPADDI{}.lreg_dest(kTo).imm16(BitsOf(kValue) >> 16)>();
}

template <uint32_t kTo, uint32_t kFrom>
void Move() {
  Push<SFPMOV{}.lreg_dest(kTo).lreg_c(kFrom)>();
}
template <uint32_t kTo, uint32_t kFrom>
void Negate() {
  Push<SFPMOV{}.lreg_dest(kTo).lreg_c(kFrom).instr_mod(1)>();
}
template <uint32_t kTo, uint32_t kFrom>
void Absolute() {
  Push<SFPABS{}.lreg_dest(kTo).lreg_c(kFrom).instr_mod(1)>();
}

// The smaller of two numbers goes to `kSmaller`, the greater one to `kGreater`.
template <uint32_t kSmaller, uint32_t kGreater>
void Sort() {
  Push<SFPSWAP{}.lreg_dest(kSmaller).lreg_c(kGreater).instr_mod(1)>();
}
// At least, at most a constant. `kScratch` changes.
template <uint32_t kTo, float kValue, uint32_t kScratch>
void AtLeast() {
  Set<kScratch, kValue>();
  Sort<kScratch, kTo>();
}
template <uint32_t kTo, float kValue, uint32_t kScratch>
void AtMost() {
  Set<kScratch, kValue>();
  Sort<kTo, kScratch>();
}

// Integers.
template <uint32_t kTo, int32_t kLeft>
void ShiftBits() {
  Push<SFPSHFT{}.lreg_dest(kTo).imm12(kLeft & 0xFFF).instr_mod(1)>();
}
template <uint32_t kTo, uint32_t kRight>
void ShiftRightArithmetic() {
  Push<SFPSHFT{}.lreg_dest(kTo).imm12(-kRight & 0xFFF).instr_mod(3)>();
}
// to += from
template <uint32_t kTo, uint32_t kFrom>
void AddBits() {
  Push<SFPIADD{}.lreg_dest(kTo).lreg_c(kFrom).instr_mod(4)>();
}
// to = from - to
template <uint32_t kTo, uint32_t kFrom>
void SubtractBitsFrom() {
  Push<SFPIADD{}.lreg_dest(kTo).lreg_c(kFrom).instr_mod(6)>();
}

// Conditions: instructions up to EveryLane() have effect in some lanes only.
template <uint32_t kRegister>
void WhereNegative() {
  Push<SFPSETCC{}.lreg_c(kRegister).instr_mod(0)>();
}
template <uint32_t kRegister>
void WhereZeroBits() {
  Push<SFPSETCC{}.lreg_c(kRegister).instr_mod(6)>();
}
// kRegister >= kBound
template <uint32_t kBound, uint32_t kRegister>
void WhereAtLeast() {
  Push<SFPLE{}.lreg_dest(kBound).lreg_c(kRegister).instr_mod(1)>();
}
// kRegister > kBound
template <uint32_t kRegister, uint32_t kBound>
void WhereGreater() {
  Push<SFPGT{}.lreg_dest(kRegister).lreg_c(kBound).instr_mod(1)>();
}
inline void EveryLane() { Push<SFPENCC{}.instr_mod(10).imm12(0b11)>(); }

// to = 2 ^ exponent, which is register 0 and at least -127 and at most 128; 2 ^ 128 is infinity. Registers 0 and 1
// change, kMagic, kSquare and kLinear hold the constants of SetPowerConstants(). Relative error 3e-6.
//
// Adding and subtracting 1.5 * 2 ^ 23 rounds the exponent to an integer, which the sum's low bits then are; a
// polynomial of degree 4 does the rest, between -1/2 and 1/2.
inline constexpr uint32_t kMagic = 5;
inline constexpr uint32_t kSquare = 6;
inline constexpr uint32_t kLinear = 7;
inline void SetPowerConstants() {
  Set<kMagic, 12582912.0f>();
  Set<kSquare, 0.24024115f>();
  Set<kLinear, 0.69312399f>();
}
template <uint32_t kTo>
void PowerOf2() {
  Add<1, 0, kMagic>();
  Subtract<kTo, 1, kMagic>();
  Subtract<0, 0, kTo>();
  Set<kTo, 0.00958251953125f>();
  Multiply<kTo, kTo, 0>();
  Add<kTo, 0.055908203125f>();
  MultiplyAdd<kTo, kTo, 0, kSquare>();
  MultiplyAdd<kTo, kTo, 0, kLinear>();
  MultiplyAdd<kTo, kTo, 0, kOne>();
  ShiftBits<1, 23>();
  AddBits<kTo, 1>();
}

// to = 1 / of, relative error 4e-5 at most; `of`, which is not 0 or infinity, changes. One step of Newton's method,
// whose correction is a factor: as a term it would be less than the smallest number where the result is near that.
template <uint32_t kTo, uint32_t kOf>
void Reciprocal() {
  Push<SFPARECIP{}.lreg_dest(kTo).lreg_c(kOf)>();
  SubtractProduct<kOf, kOf, kTo, kOne>();
  Add<kOf, kOf, kOne>();
  Multiply<kTo, kTo, kOf>();
}

// Calls `step` for each vector of a tile of Dst, with the counter of Dst at it; the step ends with StoreAndStep().
template <typename Step>
void ForEachVector(uint32_t tile, Step step) {
  SelectDstTile(tile);
  EveryLane();
  for (uint32_t i = 0; i != kVectors; ++i) step();
}

}  // namespace ttfd::compute::internal
