// TRISC1: maxima over rows, columns and all numbers of a tile, for <ttfd/compute/reduce.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/sums.h>
#include <ttfd/compute/vector.h>

namespace ttfd::compute::internal {

// GMPOOL: the maximum of a row of Dst and the columns of a face of SrcA, where SrcB's row is 1. A row of Dst that was
// cleared counts as the smallest number.
template <uint32_t kDst, uint32_t kAddrMod, uint32_t kClearDvalid = 0>
void PoolMaximum() {
  Push<GMPOOL{}.dst(kDst).instr_mod(1).addr_mode(kAddrMod).clear_dvalid(kClearDvalid)>();
}

inline void ConfigureColumnMaxima() {
  AwaitUnits();
  SetAddrMod<0, 32, 0, 0>();
  SetAddrMod<1, 48, 0, 0>();
}
inline void FindColumnMaxima() {
  PoolMaximum<0, 0>();
  PoolMaximum<0, 1>();
  PoolMaximum<16, 0>();
  PoolMaximum<16, 0, kBothSources>();
}

inline void ConfigureMaximum() {
  AwaitUnits();
  SetAddrMod<0, 16, 0, 0>();
}
inline void FindMaximum() {
  for (uint32_t i = 0; i != 3; ++i) PoolMaximum<kScratch, 0>();
  PoolMaximum<kScratch, 0, kBothSources>();
}

// The faces of SrcA are transposed. The maxima of their columns, in one row, become a column by way of rows 16 to 31
// of SrcB, of which the scaler leaves all but the first 0.
inline void ConfigureRowMaxima() {
  AwaitUnits();
  SetAddrMod<0, 16, 0, 0>();
  SetAddrMod<1, 16, 16, 0>();  // SrcB to row 16
  SetAddrMod<2, 0, 8, 0>();
  SetAddrMod<3, 0, 56, 0>();  // and back
}
template <uint32_t kFromRow, uint32_t kTo, uint32_t kClearDvalid = 0>
void TransposeRow() {
  Push<MOVD2B{}.dst(kFromRow).instr_mod(0).addr_mode(kAddrModNoStep)>();
  Push<TRNSPSRCB{}>();
  Push<ELWADD{}.dst(kTo).addr_mode(2)>();
  Push<ELWADD{}.dst(kTo + 8).addr_mode(3).clear_dvalid(kClearDvalid)>();
}
// Into the left faces, or the right ones.
template <uint32_t kTo>
void FindRowMaxima() {
  PoolMaximum<16, 0>();
  PoolMaximum<16, 0>();
  PoolMaximum<48, 0>();
  PoolMaximum<48, 1>();
  Push<ZEROSRC{}.src_mask(1).write_mode(1)>();  // SrcA is 0
  TransposeRow<16, kTo>();
  Push<TRNSPSRCB{}>();  // all but row 16 is 0 again
  TransposeRow<48, kTo + 32, kBothSources>();
}

// Left faces = maxima of left and right faces; eight vectors from kRow rows on.
template <uint32_t kRow>
void MergeMaxima() {
  for (uint32_t i = 0; i != 8; ++i) {
    Load<0, kRow + 16>();
    Load<1, kRow>();
    Sort<0, 1>();
    StoreAndStep<1, kRow>();
  }
}

}  // namespace ttfd::compute::internal
