// TRISC1: functions of two or three tiles of Dst, for <ttfd/compute/dst_binary.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/vector.h>

namespace ttfd::compute::internal {

// Loads and stores of the vector at the counter's place in any tile of the half of Dst.
inline SFPLOAD LoadFrom(uint32_t tile, uint32_t mode = kFloat32Dst) {
  return SFPLOAD{}.instr_mod(mode).addr_mode(kAddrModNoStep).dest_reg_addr(tile * kTileRows);
}
inline SFPSTORE StoreTo(uint32_t tile, uint32_t mode = kFloat32Dst) {
  return SFPSTORE{}.instr_mod(mode).addr_mode(kAddrModNextVector).dest_reg_addr(tile * kTileRows);
}

// A function of two tiles, by `kTwo`: register 0 becomes its result for registers 0 and 1.
template <void (*kTwo)(), uint32_t kMode = kFloat32Dst>
void Combine(uint32_t tile0, uint32_t tile1, uint32_t to) {
  ForEachVector(0, [load0 = LoadFrom(tile0, kMode).lreg(0), load1 = LoadFrom(tile1, kMode).lreg(1),
                    store = StoreTo(to, kMode).lreg(0)] {
    internal::Push(load0);
    internal::Push(load1);
    kTwo();
    internal::Push(store);
  });
}

// As of Recip(): of a divisor's reciprocal, 2 ^ 126 and more have none, and both are divided by 2 ^ 64 first where the
// divisor has that magnitude. The result then is 0 where the dividend becomes 0.
inline void Quotient() {
  Absolute<2, 1>();
  WhereAtLeast<4, 2>();
  MultiplyBy<0, 0x1p-64f>();
  MultiplyBy<1, 0x1p-64f>();
  EveryLane();
  Push<SFPARECIP{}.lreg_dest(2).lreg_c(1)>();
  SubtractProduct<1, 1, 2, kOne>();
  Add<3, 1, kOne>();
  MultiplyAdd<1, 1, 3, kOne>();
  AtMost<1, 2.0f, 3>();
  Multiply<2, 2, 1>();
  Multiply<0, 0, 2>();
}
inline void Divide(uint32_t tile0, uint32_t tile1, uint32_t to) {
  Set<4, 0x1p64f>();
  Combine<Quotient>(tile0, tile1, to);
}

inline void Greater() { Sort<1, 0>(); }
inline void Smaller() { Sort<0, 1>(); }

// Comparisons: all bits of `kLeft` become 1 where it is greater than `kRight`, or at most as great, and 0 elsewhere.
template <uint32_t kLeft, uint32_t kRight>
void MaskGreater() {
  Push<SFPGT{}.lreg_dest(kLeft).lreg_c(kRight).instr_mod(8)>();
}
template <uint32_t kLeft, uint32_t kRight>
void MaskAtMost() {
  Push<SFPLE{}.lreg_dest(kLeft).lreg_c(kRight).instr_mod(8)>();
}
// Register 0 = 1 or 0, by a mask.
template <uint32_t kMask>
void OneWhere() {
  Push<SFPAND{}.lreg_dest(0).lreg_c(kOne).instr_mod(1).imm12(kMask)>();
}
inline void NoSignOfZero() {  // -0 and denormals become 0
  Add<0, 0, kZero>();
  Add<1, 1, kZero>();
}

inline void IsGreater() {
  NoSignOfZero();
  MaskGreater<0, 1>();
  OneWhere<0>();
}
inline void IsAtMost() {
  NoSignOfZero();
  MaskAtMost<0, 1>();
  OneWhere<0>();
}
inline void IsEqual() {
  NoSignOfZero();
  Move<2, 0>();
  MaskAtMost<2, 1>();
  MaskAtMost<1, 0>();
  Push<SFPAND{}.lreg_dest(2).lreg_c(1)>();
  OneWhere<2>();
}
inline void IsUnequal() {
  NoSignOfZero();
  Move<2, 0>();
  MaskGreater<2, 1>();
  MaskGreater<1, 0>();
  Push<SFPOR{}.lreg_dest(2).lreg_c(1)>();
  OneWhere<2>();
}

// The opposite comparison, of the tiles the other way round.
template <void (*kTwo)()>
void CombineReversed(uint32_t tile0, uint32_t tile1, uint32_t to) {
  Combine<kTwo>(tile1, tile0, to);
}

inline void Where(uint32_t condition, uint32_t if_true, uint32_t if_false, uint32_t to) {
  ForEachVector(0, [load0 = LoadFrom(condition).lreg(0), load1 = LoadFrom(if_true).lreg(1),
                    load2 = LoadFrom(if_false).lreg(1), store = StoreTo(to).lreg(1)] {
    internal::Push(load0);
    internal::Push(load1);
    Add<0, 0, kZero>();  // -0 and denormals become 0
    WhereZeroBits<0>();
    internal::Push(load2);
    EveryLane();
    internal::Push(store);
  });
}

}  // namespace ttfd::compute::internal
