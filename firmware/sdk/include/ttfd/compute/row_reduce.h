// Sums and maxima of the rows of a tile of Dst, by the vector unit: own extension. Each number becomes that of its
// whole row. All 32 bits count, where <ttfd/compute/reduce.h> has the 10 bits of the matrix unit's sources.
//
//   row_sums_tile      error 1e-6 of the sum of the magnitudes; the order of the additions is fixed
//   row_maxima_tile    exact; 0 is greater than -0
#pragma once

#include <ttfd/compute/reduce.h>

namespace ttfd::compute {

namespace internal {

// Four rows at a time: their even and odd columns, in two faces.
template <PoolType kPool>
[[gnu::noinline]] void ReduceRows(uint32_t tile) {
  constexpr uint32_t kOdd = 2, kRightFace = 16;
  for (uint32_t row = 0; row != kTileRows; row += row % 32 == 12 ? 20 : 4) {
    SelectDstRow(tile * kTileRows + row);
    EveryLane();
    Load<0>();
    Load<1, kOdd>();
    CombineVectors<kPool>();
    Load<1, kRightFace>();
    CombineVectors<kPool>();
    Load<1, kRightFace + kOdd>();
    CombineVectors<kPool>();
    CombineLanes<kPool, 1>();
    CombineLanes<kPool, 2>();
    CombineLanes<kPool, 4>();
    Store<0>();
    Store<0, kOdd>();
    Store<0, kRightFace>();
    Store<0, kRightFace + kOdd>();
  }
}

}  // namespace internal

// Nothing is kept from one function to the next.
inline void row_sums_tile_init() {}
inline void row_sums_tile(uint32_t dst) {
  if constexpr (kComputes) internal::ReduceRows<PoolType::SUM>(dst);
}
inline void row_maxima_tile_init() {}
inline void row_maxima_tile(uint32_t dst) {
  if constexpr (kComputes) internal::ReduceRows<PoolType::MAX>(dst);
}

}  // namespace ttfd::compute
