// Softmax of rows that come tile after tile: own extension, for attention. Statistics of the rows so far are numbers of
// another tile of Dst.
//
//   online_softmax_tiles<3>(tiles, rows, options);    // of the scores in the first tiles; statistics in tile 3
//
// Scores become weights: 2 ^ (score - m), rounded to bfloat16, where m is the greatest score of the row so far. The sum
// of weights so far is made with 32 bits. What has been summed with the weights of earlier tiles is multiplied by the
// row's correction, and the sum of all by its factor, 1 / the sum of weights:
//
//   scale_rows_tile<3>(dst, rows, RowScale::CORRECTION);
//
// Rows are handled four at a time; the others of the same four may be changed, too. A score of -Inf has the weight 0. A
// row that has no others has the factor 2 ^ 100, and is 0.
#pragma once

#include <ttfd/compute/reduce.h>

namespace ttfd::compute {

struct OnlineSoftmaxOptions {
  uint32_t scale;  // of scores, which follow as exponents of 2: the bits of a 32-bit float
  bool first;      // the first tile of the rows: statistics hold nothing yet
  bool masked;     // tile 1, times log2(e), is added to the scores, which are one tile
};

// Where the statistics are in each vector of four rows. Values are rows of Dst.
enum class RowScale : uint32_t { CORRECTION = 16, FACTOR = 18 };

namespace internal {

inline constexpr uint32_t kMaximumAt = 0;
inline constexpr uint32_t kSumAt = 2;
inline constexpr uint32_t kCorrectionAt = static_cast<uint32_t>(RowScale::CORRECTION);
inline constexpr uint32_t kFactorAt = static_cast<uint32_t>(RowScale::FACTOR);
inline constexpr uint32_t kLowestScore = 0xFF000000;  // -2 ^ 127: less than what is scored

inline SFPLOAD LoadAt(uint32_t row) {
  return SFPLOAD{}.instr_mod(kFloat32Dst).addr_mode(kAddrModNoStep).dest_reg_addr(row);
}

[[gnu::noinline]] inline void SelectFourRows(uint32_t tile, uint32_t row) {
  SelectDstRow(tile * kTileRows + (row & 16) * 2 + (row & 15));
}

// Register 2 = 2 ^ register 0, which is at most 0. Registers 0 and 1 change.
inline void PowerOfDifference() {
  AtLeast<0, -127.0f, 1>();
  PowerOf2<2>();
}

// Scales the scores of a vector and adds those of the mask; register 0 = the greatest ones so far.
template <uint32_t kRow, bool kMasked>
void ScaleScores() {
  constexpr uint32_t kMaskRow = kTileRows + kRow;
  Load<2, kRow>();
  Multiply<2, 2, 4>();
  if constexpr (kMasked) {
    Load<1, kMaskRow>();
    MultiplyAdd<2, 1, 3, 2>();
  }
  Store<2, kRow>();
  Sort<2, 0>();
}
template <bool kMasked>
void ScaleFourRows() {
  if constexpr (kMasked) Set<3, 1.44269504f>();  // log2(e)
  ScaleScores<0, kMasked>();
  ScaleScores<2, kMasked>();
  ScaleScores<16, kMasked>();
  ScaleScores<18, kMasked>();
}

// Register 4 += weights of a vector, for the maximum in register 3.
template <uint32_t kRow>
void WeighScores() {
  Load<0, kRow>();
  Subtract<0, 0, 3>();
  PowerOfDifference();
  Push<SFP_STOCH_RND{}.lreg_dest(2).lreg_c(2).instr_mod(1)>();
  Store<2, kRow>();
  Add<4, 4, 2>();
}

// Register 0 = the greatest scores of four rows. Ends at tile 0.
inline void FindMaxima(uint32_t tiles, uint32_t row, const OnlineSoftmaxOptions& options) {
  SetBits<4>(options.scale);
  SetBits<0, kLowestScore>();
  for (uint32_t tile = tiles; tile-- != 0;) {
    SelectFourRows(tile, row);
    if (options.masked) {
      ScaleFourRows<true>();
    } else {
      ScaleFourRows<false>();
    }
  }
  CombineLanes<PoolType::MAX, 1>();
  CombineLanes<PoolType::MAX, 2>();
  CombineLanes<PoolType::MAX, 4>();
}

// Compares the maximum in register 0 with the last one in register 1: register 3 = the greater one, register 2 = the
// correction.
inline void CompareMaxima() {
  Move<2, 1>();
  Sort<2, 0>();
  Move<3, 0>();
  Subtract<0, 1, 3>();
  PowerOfDifference();
}

// Register 0 = the sum of weights of four rows. Ends at tile 0.
inline void AddWeights(uint32_t tiles, uint32_t row) {
  Move<4, kZero>();
  for (uint32_t tile = tiles; tile-- != 0;) {
    SelectFourRows(tile, row);
    WeighScores<0>();
    WeighScores<2>();
    WeighScores<16>();
    WeighScores<18>();
  }
  Move<0, 4>();
  CombineLanes<PoolType::SUM, 1>();
  CombineLanes<PoolType::SUM, 2>();
  CombineLanes<PoolType::SUM, 4>();
}

// Statistics are `kAt` rows from the counter of Dst on.
template <uint32_t kAt>
void SoftmaxFourRows(uint32_t tiles, uint32_t row, const OnlineSoftmaxOptions& options) {
  FindMaxima(tiles, row, options);
  if (options.first) {
    SetBits<1, kLowestScore>();
  } else {
    Load<1, kAt + kMaximumAt>();
  }
  CompareMaxima();
  Store<3, kAt + kMaximumAt>();
  Store<2, kAt + kCorrectionAt>();
  if (options.first) {
    Move<0, kZero>();
  } else {
    Load<0, kAt + kSumAt>();
    Multiply<0, 0, 2>();
  }
  Store<0, kAt + kSumAt>();
  AddWeights(tiles, row);
  Load<1, kAt + kSumAt>();
  Add<0, 0, 1>();
  Store<0, kAt + kSumAt>();
  AtLeast<0, 0x1p-100f, 1>();
  Reciprocal<2, 0>();
  Store<2, kAt + kFactorAt>();
}

template <uint32_t kStatistics>
void OnlineSoftmax(uint32_t tiles, TileRows rows, const OnlineSoftmaxOptions& options) {
  AwaitUnits();
  EveryLane();
  SetPowerConstants();
  for (uint32_t row = rows.begin & ~3u; row < rows.end; row += 4) {
    SoftmaxFourRows<kStatistics * kTileRows>(tiles, row, options);
  }
}

template <uint32_t kStatistics>
void ScaleRows(uint32_t tile, TileRows rows, RowScale scale) {
  const uint32_t at = (kStatistics - tile) * kTileRows + static_cast<uint32_t>(scale);
  EveryLane();
  for (uint32_t row = rows.begin & ~3u; row < rows.end; row += 4) {
    SelectFourRows(tile, row);
    internal::Push(LoadAt(at).lreg(4));
    Load<0>();
    Load<1, 2>();
    Load<2, 16>();
    Load<3, 18>();
    Multiply<0, 0, 4>();
    Multiply<1, 1, 4>();
    Multiply<2, 2, 4>();
    Multiply<3, 3, 4>();
    Store<0>();
    Store<1, 2>();
    Store<2, 16>();
    Store<3, 18>();
  }
}

}  // namespace internal

// Nothing is kept from one function to the next.
inline void online_softmax_tiles_init() {}
template <uint32_t kStatistics>
void online_softmax_tiles(uint32_t tiles, TileRows rows, const OnlineSoftmaxOptions& options) {
  if constexpr (kComputes) internal::OnlineSoftmax<kStatistics>(tiles, rows, options);
}
inline void scale_rows_tile_init() {}
template <uint32_t kStatistics>
void scale_rows_tile(uint32_t dst, TileRows rows, RowScale scale) {
  if constexpr (kComputes) internal::ScaleRows<kStatistics>(dst, rows, scale);
}

}  // namespace ttfd::compute
