// Sums and maxima over the rows, the columns or all numbers of tiles.
//
//   reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, scaler, out);
//   tile_regs_acquire();                                                                        // Dst is 0
//   for (uint32_t i = 0; i != tiles; ++i) reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, scaler, i, 0, dst);
//   reduce_uninit();
//
// REDUCE_ROW reduces each row to one number, in column 0 of tile dst of Dst; REDUCE_COL each column, in row 0;
// REDUCE_SCALAR the tile, at row 0, column 0. All other numbers of the tile are 0. Further calls with the same tile of
// Dst continue with it: until it is committed, the tile is for reduce_tile with the same parameters only.
//
// The scaler is a tile whose row 0 holds one number in its 32 columns, and 0 elsewhere, at least in the other rows of
// its top faces. A sum is multiplied by it: 1 / n gives a mean (PoolType::AVG is SUM). A maximum needs the scaler 1.
#pragma once

#include <ttfd/compute/maxima.h>
#include <ttfd/compute/sums.h>
#include <ttfd/compute/tiles.h>

namespace ttfd::compute {

enum class PoolType : uint32_t { SUM, AVG, MAX };
enum class ReduceDim : uint32_t { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };

namespace internal {

template <PoolType kPool>
void CombineVectors() {
  if constexpr (kPool == PoolType::MAX) {
    Sort<1, 0>();
  } else {
    Add<0, 0, 1>();
  }
}

// Register 0 = register 0 and itself `kLanes` lanes of the row away.
template <PoolType kPool, uint32_t kLanes>
void CombineLanes() {
  Push<SFPSHFT2{}.lreg_dest(1).lreg_c(0).instr_mod(3)>();
  for (uint32_t i = 1; i < kLanes; ++i) Push<SFPSHFT2{}.lreg_dest(1).lreg_c(1).instr_mod(3)>();
  CombineVectors<kPool>();
}

// Combines the 16 numbers at row kScratch, and the result with the number at row 0, column 0.
template <PoolType kPool>
void CombineRow(bool first) {
  constexpr uint32_t kLaneNumbers = 15;  // register
  EveryLane();
  Load<0, kScratch>();
  Load<1, kScratch + 2>();  // the odd columns
  CombineVectors<kPool>();
  CombineLanes<kPool, 1>();
  CombineLanes<kPool, 2>();
  CombineLanes<kPool, 4>();
  Load<1>();
  WhereZeroBits<kLaneNumbers>();
  if constexpr (kPool != PoolType::MAX) {
    Add<1, 1, 0>();
  } else if (first) {
    Move<1, 0>();
  } else {
    Sort<0, 1>();
  }
  EveryLane();
  Store<1>();
}

template <PoolType kPool, ReduceDim kDim>
void ConfigureReduction() {
  if constexpr (kPool == PoolType::MAX) {
    if constexpr (kDim == ReduceDim::REDUCE_ROW) ConfigureRowMaxima();
    if constexpr (kDim == ReduceDim::REDUCE_COL) ConfigureColumnMaxima();
    if constexpr (kDim == ReduceDim::REDUCE_SCALAR) ConfigureMaximum();
  } else {
    if constexpr (kDim == ReduceDim::REDUCE_ROW) ConfigureRowSums();
    if constexpr (kDim == ReduceDim::REDUCE_COL) ConfigureColumnSums();
    if constexpr (kDim == ReduceDim::REDUCE_SCALAR) ConfigureSum();
  }
}

template <ReduceDim kDim, uint32_t kClearDvalid = 0>
void AddSums() {
  if constexpr (kDim == ReduceDim::REDUCE_ROW) AddRowSums<kClearDvalid>();
  if constexpr (kDim == ReduceDim::REDUCE_COL) AddColumnSums<kClearDvalid>();
  if constexpr (kDim == ReduceDim::REDUCE_SCALAR) AddSum<kClearDvalid>();
}

template <ReduceDim kDim>
void FindMaxima(uint32_t dst, bool first) {
  if constexpr (kDim == ReduceDim::REDUCE_COL) FindColumnMaxima();
  if constexpr (kDim == ReduceDim::REDUCE_SCALAR) FindMaximum();
  if constexpr (kDim == ReduceDim::REDUCE_ROW) {
    if (first) {
      FindRowMaxima<0>();
    } else {
      FindRowMaxima<16>();
      SelectDstTile(dst);
      EveryLane();
      MergeMaxima<0>();
      MergeMaxima<16>();  // the counter has passed the first face
      AwaitUnits();
    }
    ClearDstFace(dst, 1);
    ClearDstFace(dst, 3);
  }
}

template <PoolType kPool, ReduceDim kDim>
void Reduce(uint32_t dst) {
  const uint32_t bit = 1u << dst;
  const bool first = (dst_maxima & bit) == 0;
  dst_maxima |= bit;
  SelectDstTile(dst);
  if constexpr (kPool == PoolType::MAX) {
    FindMaxima<kDim>(dst, first);
  } else {
    for (uint32_t i = 1; i != PhasesOf(MathFidelity::HiFi4); ++i) AddSums<kDim>();
    AddSums<kDim, kBothSources>();
  }
  if constexpr (kDim == ReduceDim::REDUCE_SCALAR) {
    SelectDstTile(dst);
    CombineRow<kPool>(first);
    AwaitUnits();
    ClearDstFace(dst, 2);
  }
}

}  // namespace internal

// Without the format of the output.
template <PoolType kPool, ReduceDim kDim>
void reduce_init_short(uint32_t in, uint32_t scaler) {
  using namespace internal;
  constexpr bool kRow = kDim == ReduceDim::REDUCE_ROW;
  if constexpr (kUnpacks) {
    if constexpr (kRow && kPool != PoolType::MAX) {
      ConfigureSources(scaler, in, true);
    } else {
      ConfigureSources(in, scaler, kRow);
    }
  }
  if constexpr (kComputes) ConfigureReduction<kPool, kDim>();
}
template <PoolType kPool, ReduceDim kDim>
void reduce_init(uint32_t in, uint32_t scaler, uint32_t out) {
  compute_kernel_hw_startup(in, scaler, out);
  reduce_init_short<kPool, kDim>(in, scaler);
}
// The init function of the next operation sets all that it needs.
inline void reduce_uninit() {}

template <PoolType kPool, ReduceDim kDim>
void reduce_tile(uint32_t in, uint32_t scaler, uint32_t tile, uint32_t scaler_tile, uint32_t dst) {
  using namespace internal;
  if constexpr (kUnpacks) {
    const uint32_t from = TileAddress(in, tile);
    const uint32_t scale = TileAddress(scaler, scaler_tile);
    if constexpr (kDim == ReduceDim::REDUCE_ROW && kPool != PoolType::MAX) {
      Unpack(scale, from);
    } else {
      Unpack(from, scale);
    }
  }
  if constexpr (kComputes) Reduce<kPool, kDim>(dst);
}

}  // namespace ttfd::compute
