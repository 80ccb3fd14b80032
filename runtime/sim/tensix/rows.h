// Rows of the register files, as the inner loops see them.
#pragma once

#include <cstdint>

namespace ttfd::sim::tensix {

inline constexpr uint32_t kColumns = 16;  // datums of a row

using SourceRow = uint32_t[kColumns];
using DstRow = uint16_t[kColumns];

// Consecutive rows of Dst: the high halves of 32-bit datums and their low ones, or 16-bit datums.
struct DstBlock {
  DstRow* high;
  DstRow* low;  // null: 16-bit datums

  // A datum as binary32; the low half of a 16-bit one is 0.
  uint32_t Load(uint32_t row, uint32_t column) const {
    const uint32_t bits = uint32_t{high[row][column]} << 16;
    return low == nullptr ? bits : bits | low[row][column];
  }
  void Store(uint32_t row, uint32_t column, uint32_t bits) const {
    high[row][column] = static_cast<uint16_t>(bits >> 16);
    if (low != nullptr) low[row][column] = static_cast<uint16_t>(bits);
  }
};

}  // namespace ttfd::sim::tensix
