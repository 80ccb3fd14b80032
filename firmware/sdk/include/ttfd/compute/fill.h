// Numbers of a tile of Dst that are outside a number of rows and columns: own extension, for tiles that a matrix covers
// in part.
#pragma once

#include <ttfd/compute/vector.h>

namespace ttfd::compute {

namespace internal {

// Registers while a tile is filled.
inline constexpr uint32_t kFilling = 0;       // the number
inline constexpr uint32_t kColumnOfLane = 1;  // in a face, of a vector with the even columns
inline constexpr uint32_t kRowOfLane = 2;     // of the vector's four
inline constexpr uint32_t kDifference = 3;

inline void SetLaneNumbers() {
  constexpr uint32_t kTwiceTheLane = 15;  // register: 16 times the row, plus the column
  Push<SFPLOADI{}.lreg(kColumnOfLane).instr_mod(2).imm16(0xF)>();
  Push<SFPAND{}.lreg_dest(kColumnOfLane).lreg_c(kTwiceTheLane)>();
  Move<kRowOfLane, kTwiceTheLane>();
  ShiftBits<kRowOfLane, -4>();
}

template <uint32_t... kRows>
void StoreAt() {
  (Store<kFilling, kRows>(), ...);
}
// In the lanes whose number in `kOfLane` is `bound` or greater.
template <uint32_t kOfLane, uint32_t... kRows>
void StoreWhereAtLeast(uint32_t bound) {
  EveryLane();
  internal::Push(
      SFPIADD{}.lreg_dest(kDifference).lreg_c(kOfLane).instr_mod(9).imm12(-bound & 0xFFF));
  StoreAt<kRows...>();
}

// The rows below an edge inside two faces next to each other.
inline void FillRows(uint32_t tile, uint32_t rows) {
  constexpr uint32_t kVectorRows = 4;
  const uint32_t edge = rows % 16;
  for (uint32_t row = edge & ~(kVectorRows - 1); row != 16; row += kVectorRows) {
    SelectDstRow(tile * kTileRows + rows / 16 * 32 + row);
    StoreWhereAtLeast<kRowOfLane, 0, 2, 16, 18>(edge - row);
  }
}
// The columns to the right of an edge inside two faces one below the other.
inline void FillColumns(uint32_t tile, uint32_t columns) {
  const uint32_t edge = columns % 16;
  SelectDstRow(tile * kTileRows + columns / 16 * 16);
  StoreWhereAtLeast<kColumnOfLane, 0, 4, 8, 12, 32, 36, 40, 44>(edge);
  StoreWhereAtLeast<kColumnOfLane, 2, 6, 10, 14, 34, 38, 42, 46>(edge - 1);  // the odd columns
}
inline void FillFace(uint32_t tile, uint32_t face, uint32_t bits) {
  if (bits == 0) {
    ClearDstFace(tile, face);
  } else {
    SelectDstRow(tile * kTileRows + face * 16);
    StoreAt<0, 2, 4, 6, 8, 10, 12, 14>();
  }
}

// Whole faces come last: vectors are stored into rows that hold numbers.
inline void FillOutside(uint32_t tile, uint32_t rows, uint32_t columns, uint32_t bits) {
  SelectDstTile(tile);
  EveryLane();
  if (bits == 0) {
    SetBits<kFilling, 0>();
  } else {
    SetBits<kFilling>(bits);
  }
  SetLaneNumbers();
  if (rows % 16 != 0) FillRows(tile, rows);
  if (columns % 16 != 0) FillColumns(tile, columns);
  EveryLane();
  AwaitUnits();
  if (columns <= 16) FillFace(tile, 1, bits);
  if (rows <= 16) FillFace(tile, 2, bits);
  if (columns <= 16 || rows <= 16) FillFace(tile, 3, bits);
}

// Register kRowOfLane holds column - row of each lane, or the column; vectors that are `kRow` rows from the counter.
template <uint32_t kRow>
void StoreOutside(int32_t low, int32_t high) {
  constexpr SFPIADD kCompare = SFPIADD{}.lreg_dest(kDifference).lreg_c(kRowOfLane);
  EveryLane();
  internal::Push(kCompare.instr_mod(9).imm12(-(high + 1) & 0xFFF));
  Store<kFilling, kRow>();
  EveryLane();
  internal::Push(kCompare.instr_mod(1).imm12(-low & 0xFFF));
  Store<kFilling, kRow>();
}
inline void FillOutsideBand(uint32_t tile, bool by_row, int32_t low, int32_t high, uint32_t bits) {
  SelectDstTile(tile);
  EveryLane();
  SetBits<kFilling>(bits);
  SetLaneNumbers();
  if (by_row) {
    Push<SFPIADD{}.lreg_dest(kRowOfLane).lreg_c(kColumnOfLane).instr_mod(6)>();
  } else {
    Move<kRowOfLane, kColumnOfLane>();
  }
  for (int32_t row = 0; row != static_cast<int32_t>(kTileRows); row += 4) {
    const int32_t first = (row & 16) - (by_row ? (row & 32) / 2 + (row & 15) : 0);
    SelectDstRow(tile * kTileRows + static_cast<uint32_t>(row));
    StoreOutside<0>(low - first, high - first);
    StoreOutside<2>(low - first - 1, high - first - 1);  // the odd columns
  }
  EveryLane();
}

}  // namespace internal

// Numbers of tile `dst` in row `rows` or a later one, or in column `columns` or a later one, become the number with
// these bits, which is not a denormal. `rows`, `columns`: 1 to 32. All other numbers keep their bits. With bits 0 faces
// are cleared, and packing follows: of a face that was cleared, functions in Dst bring old numbers back. They take -0.
inline void fill_outside_tile_init() {}
inline void fill_outside_tile(uint32_t dst, uint32_t rows, uint32_t columns, uint32_t bits) {
  if constexpr (kComputes) internal::FillOutside(dst, rows, columns, bits);
}

// Numbers of tile `dst` whose column, or with `by_row` column - row, is less than `low` or greater than `high` become
// the number with these bits, which is not a denormal. `low`, `high`: -1000 to 1000.
inline void fill_outside_band_tile_init() {}
inline void fill_outside_band_tile(uint32_t dst, bool by_row, int32_t low, int32_t high,
                                   uint32_t bits) {
  if constexpr (kComputes) internal::FillOutsideBand(dst, by_row, low, high, bits);
}

}  // namespace ttfd::compute
