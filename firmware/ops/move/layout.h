// Where the elements of a tensor lie: in its pages, and in a tile.
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/ops/move_words.h"

namespace ttfd::ops {

inline constexpr uint32_t kTileExtent = 32;  // rows and columns
inline constexpr uint32_t kFaceExtent =
    16;  // of the four faces of a tile, which follow one another
inline constexpr uint32_t kTileElements = kTileExtent * kTileExtent;

// Number of an element of a tile in its bytes.
inline uint32_t InTile(uint32_t row, uint32_t column) {
  return (row & 16) << 5 | (column & 16) << 4 | (row & 15) << 4 | (column & 15);
}

// How many of the numbers 0, step, 2 * step, ... are below `end`, which is not 0; at most `limit`.
inline uint32_t CountBelow(uint32_t end, uint32_t step, uint32_t limit) {
  if (step == 0) return limit;
  const uint32_t count = step == 1 ? end : (end - 1) / step + 1;
  return count < limit ? count : limit;
}

inline uint32_t Least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The rows and columns of an element of a tensor.
struct ElementPlace {
  ElementPlace(const MoveTensor& tensor, uint32_t element) {
    row = element / tensor.columns;
    column = element - row * tensor.columns;
  }
  uint32_t row;  // of all matrices
  uint32_t column;
};

// The pages of a tensor of elements.
class TensorPages {
 public:
  [[gnu::noinline]] TensorPages(const MoveTensor& tensor, uint32_t unit_bytes)
      : tensor_(tensor),
        unit_bytes_(unit_bytes),
        tile_columns_((tensor.columns + 31) / 32),
        tile_rows_((tensor.rows + 31) / 32),
        pages_(tensor.address,
               tensor.is_tiled != 0 ? kTileElements * unit_bytes : tensor.columns * unit_bytes) {}

  bool is_tiled() const { return tensor_.is_tiled != 0; }
  uint32_t rows() const { return tensor_.rows; }
  uint32_t columns() const { return tensor_.columns; }
  uint32_t page_bytes() const { return pages_.page_bytes(); }

  [[gnu::noinline]] kernel::NocAddress Page(uint32_t page, uint32_t offset = 0) const {
    return pages_.Page(page, offset);
  }
  // The same for loops over many pages.
  const kernel::InterleavedBuffer& pages() const { return pages_; }
  // Page of the tile of a row of a matrix and a column.
  uint32_t TileOf(uint32_t matrix, uint32_t row, uint32_t column) const {
    return (matrix * tile_rows_ + row / 32) * tile_columns_ + column / 32;
  }
  kernel::NocAddress Element(uint32_t element) const {
    const ElementPlace place(tensor_, element);
    if (!is_tiled()) return Page(place.row, place.column * unit_bytes_);
    const uint32_t matrix = place.row / rows();
    const uint32_t row = place.row - matrix * rows();
    return Page(TileOf(matrix, row, place.column),
                InTile(row & 31, place.column & 31) * unit_bytes_);
  }

 private:
  const MoveTensor& tensor_;
  uint32_t unit_bytes_;
  uint32_t tile_columns_;
  uint32_t tile_rows_;  // of a matrix
  kernel::InterleavedBuffer pages_;
};

}  // namespace ttfd::ops
