// Validity of the rows of Dst, and the order of their bits.
#include "runtime/sim/tensix/registers.h"

#include <algorithm>
#include <cstring>

namespace ttfd::sim::tensix {
namespace {

// A bfloat16 as a cell of Dst keeps it: sign, 7 bits of mantissa, 8 of exponent.
uint16_t CellOf(uint16_t bits) {
  return static_cast<uint16_t>((bits & 0x8000) | (bits & 0x7F) << 8 | (bits >> 7 & 0xFF));
}

DstRow g_zeros;  // is never written

}  // namespace

void Dst::Reorder(uint32_t row) {
  is_low_half_[row] ^= true;
  const bool as_low_half = is_low_half_[row];
  for (uint16_t& bits : rows_[row]) bits = as_low_half ? CellOf(bits) : BFloat16OfCell(bits);
}

bool Dst::IsBlockReady(uint32_t first, bool is_32_bit) const {
  const auto all = [first](const std::array<bool, kDstRows>& flags, uint32_t from, bool value) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, &flags[first + from], sizeof(bytes));
    return bytes == (value ? 0x0101010101010101 : 0);
  };
  return all(valid_, 0, true) && all(is_low_half_, 0, false) &&
         (!is_32_bit || all(is_low_half_, kLowHalf, true));
}

DstBlock Dst::Block(uint32_t row, uint32_t count, bool is_32_bit) {
  const uint32_t first = is_32_bit ? HighRow(row) : row;
  const DstBlock block = {&rows_[first], is_32_bit ? &rows_[first + kLowHalf] : nullptr};
  if (count == 8 && IsBlockReady(first, is_32_bit)) return block;
  for (uint32_t high = first; high < first + count; ++high) {
    if (!valid_[high]) {
      std::memset(rows_[high], 0, sizeof(DstRow));
      if (is_32_bit) std::memset(rows_[high + kLowHalf], 0, sizeof(DstRow));
      valid_[high] = true;
    }
    Prepared(high, is_32_bit);
  }
  return block;
}

DstBlock Dst::Prepared(uint32_t high, bool is_32_bit) {
  Prepare(high, false);
  if (is_32_bit) Prepare(high + kLowHalf, true);
  return {&rows_[high], is_32_bit ? &rows_[high + kLowHalf] : nullptr};
}

DstBlock Dst::Part(uint32_t row, bool is_32_bit) {
  const uint32_t high = is_32_bit ? HighRow(row) : row;
  valid_[high] = true;
  return Prepared(high, is_32_bit);
}

DstBlock Dst::Read(uint32_t row, bool is_32_bit) {
  const uint32_t high = is_32_bit ? HighRow(row) : row;
  if (!valid_[high]) return {&g_zeros, is_32_bit ? &g_zeros : nullptr};
  return Prepared(high, is_32_bit);
}

void Dst::Invalidate(uint32_t first, uint32_t count) {
  std::fill_n(valid_.begin() + first, count, false);
}

}  // namespace ttfd::sim::tensix
