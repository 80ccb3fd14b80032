// TRISC1: sums over rows, columns and all numbers of a tile, for <ttfd/compute/reduce.h>.
#pragma once

#include <stdint.h>
#include <ttfd/compute/binary.h>

namespace ttfd::compute::internal {

// Sums are matrix products with the scaler: of the rows with its transpose, of the columns and of all numbers from
// the left. The rows of faces that the products of a pass take from SrcA and SrcB, and where they go in Dst.
inline void ConfigureRowSums() {
  constexpr RowSteps kScaler = {0, 16, 48, 48};
  SetRowSteps<kScaler, kEachRow, 0>();
}
template <uint32_t kClearDvalid>
void AddRowSums() {
  Push<MVMUL{}.dst(0).addr_mode(0)>();
  Push<MVMUL{}.dst(8).addr_mode(1)>();
  Push<MVMUL{}.dst(0).addr_mode(0)>();
  Push<MVMUL{}.dst(8).addr_mode(2)>();
  Push<MVMUL{}.dst(32).addr_mode(0)>();
  Push<MVMUL{}.dst(40).addr_mode(1)>();
  Push<MVMUL{}.dst(32).addr_mode(0)>();
  Push<MVMUL{}.dst(40).addr_mode(3).clear_dvalid(kClearDvalid)>();
}

// The faces of a column lie below each other in SrcA; those of the scaler lie next to each other in SrcB.
inline void ConfigureColumnSums() {
  AwaitUnits();
  SetAddrMod<0, 32, 16, 0>();
  SetAddrMod<1, 48, 48, 0>();
  SetAddrMod<2, 16, 48, kNextPhase>();
}
template <uint32_t kClearDvalid>
void AddColumnSums() {
  Push<MVMUL{}.dst(0).addr_mode(0)>();
  Push<MVMUL{}.dst(0).addr_mode(1)>();
  Push<MVMUL{}.dst(16).addr_mode(0)>();
  Push<MVMUL{}.dst(16).addr_mode(2).clear_dvalid(kClearDvalid)>();
}

// Columns of all faces are added, into 16 numbers at row kScratch.
inline constexpr uint32_t kScratch = 32;
inline void ConfigureSum() {
  AwaitUnits();
  SetAddrMod<0, 16, 0, 0>();
  SetAddrMod<1, 16, 0, kNextPhase>();
}
template <uint32_t kClearDvalid>
void AddSum() {
  for (uint32_t i = 0; i != 3; ++i) Push<MVMUL{}.dst(kScratch).addr_mode(0)>();
  Push<MVMUL{}.dst(kScratch).addr_mode(1).clear_dvalid(kClearDvalid)>();
}

}  // namespace ttfd::compute::internal
