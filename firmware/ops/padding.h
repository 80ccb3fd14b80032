// TRISC1: makes the padding of a tile of the output 0.
#pragma once

#include <stdint.h>
#include <ttfd/compute/fill.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

inline bool HasPadding(const Padding& padding) {
  return padding.last_rows != 32 || padding.last_columns != 32;
}

// Clears the padding of tile `dst` of Dst: the output's tile in row `row` of tiles of a matrix and column `column`.
inline void ClearPadding(const Padding& padding, uint32_t row, uint32_t column, uint32_t dst) {
  const uint32_t rows = row + 1 == padding.tile_rows ? padding.last_rows : 32;
  const uint32_t columns = column + 1 == padding.tile_columns ? padding.last_columns : 32;
  if ((rows & columns) != 32) compute::fill_outside_tile(dst, rows, columns, 0);
}

// Clears the padding of tile `tile` of the output, counted through all its matrices.
inline void ClearPaddingOf(const Padding& padding, uint32_t tile, uint32_t dst) {
  const uint32_t row = tile / padding.tile_columns;
  ClearPadding(padding, row % padding.tile_rows, tile - row * padding.tile_columns, dst);
}

}  // namespace ttfd::ops
