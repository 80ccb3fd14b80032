// Validity of the rows of Dst.
#include "runtime/sim/tensix/registers.h"

#include <algorithm>
#include <cstring>

namespace ttfd::sim::tensix {

DstBlock Dst::Block(uint32_t row, uint32_t rows, bool is_32_bit) {
  for (uint32_t i = row; i < row + rows; ++i) {
    const uint32_t high = is_32_bit ? HighRow(i) : i;
    if (valid_[high]) continue;
    std::memset(rows_[high], 0, sizeof(DstRow));
    if (is_32_bit) std::memset(rows_[high + kLowHalf], 0, sizeof(DstRow));
    valid_[high] = true;
  }
  if (!is_32_bit) return {&rows_[row], nullptr};
  // Eight rows from a multiple of 8 on are consecutive.
  return {&rows_[HighRow(row)], &rows_[HighRow(row) + kLowHalf]};
}

void Dst::Invalidate(uint32_t first, uint32_t count) {
  std::fill_n(valid_.begin() + first, count, false);
}

uint32_t Dst::Read32(uint32_t row, uint32_t column) const {
  const uint32_t high = HighRow(row);
  if (!valid_[high]) return 0;
  return uint32_t{rows_[high][column]} << 16 | rows_[high + kLowHalf][column];
}

}  // namespace ttfd::sim::tensix
